/** Calls to the service's routes. What is refused comes as an `ApiError`. */
import type { Problem } from './wire.js';

/** A problem of the service, or one of the way to it. */
export class ApiError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.name = 'ApiError';
    this.problem = problem;
  }
}

/** Any thrown value as a problem to show. */
export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof ApiError) return thrown.problem;
  return { title: 'The page has a fault', status: 0, code: 'page', detail: String(thrown) };
}

export interface ApiOptions {
  fetch: typeof fetch;
  /** Null while there is none. */
  key(): string | null;
  onUnauthorized(): void;
}

/** Longer than the service lets a detection take by itself. */
const TIMEOUT_MS = 120_000;

export class Api {
  readonly #options: ApiOptions;

  constructor(options: ApiOptions) {
    this.#options = options;
  }

  async get<T>(path: string): Promise<T> {
    return (await readJson(await this.#call(path, {}))) as T;
  }

  async post<T>(path: string, body: unknown): Promise<T> {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    return (await readJson(await this.#call(path, init))) as T;
  }

  async delete<T>(path: string): Promise<T> {
    return (await readJson(await this.#call(path, { method: 'DELETE' }))) as T;
  }

  async picture(path: string): Promise<Blob> {
    return (await this.#call(path, {})).blob();
  }

  async #call(path: string, init: RequestInit): Promise<Response> {
    const response = await this.#send(path, init);
    if (response.ok) return response;
    const problem = await readProblem(response);
    if (response.status === 401) this.#options.onUnauthorized();
    throw new ApiError(problem);
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    const key = this.#options.key();
    try {
      if (key !== null) headers.set('authorization', `Bearer ${key}`);
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      return await this.#options.fetch(path, { ...init, headers, signal });
    } catch (error) {
      throw new ApiError({
        title: 'The service does not answer',
        status: 0,
        code: 'unreachable',
        detail: error instanceof Error ? error.message : String(error),
      });
    }
  }
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    throw new ApiError({
      title: 'The answer cannot be read',
      status: response.status,
      code: 'unreadable',
      detail: 'It broke off, or is not of this service.',
    });
  }
}

/** A proxy's own refusal is no problem document. */
async function readProblem(response: Response): Promise<Problem> {
  const isProblem = response.headers.get('content-type')?.includes('application/problem+json');
  if (isProblem === true) return (await readJson(response)) as Problem;
  return {
    title: `HTTP ${response.status}`,
    status: response.status,
    code: 'refused',
    detail: 'The refusal does not come from the service itself.',
  };
}
