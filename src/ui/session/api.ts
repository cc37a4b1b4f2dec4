/** Calls to the service's routes. Every call rejects with a `ServiceError`. */
import type { Problem } from '../../client/records.js';
import { ServiceError } from '../../client/service-error.js';

export interface ApiOptions {
  fetch: typeof fetch;
  /** Null while there is none. */
  key(): string | null;
  onUnauthorized(): void;
}

/** Longer than the service lets a detection take by itself. */
const TIMEOUT_MS = 120_000;
const JSON_TYPE = { 'content-type': 'application/json' };

export class Api {
  readonly #options: ApiOptions;

  constructor(options: ApiOptions) {
    this.#options = options;
  }

  async get<T>(path: string, signal?: AbortSignal): Promise<T> {
    return (await readJson(await this.#call(path, {}, signal))) as T;
  }

  async text(path: string): Promise<string> {
    return (await this.#call(path, {})).text();
  }

  /** A form is sent as it is, any other value as JSON. */
  async post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
    const init =
      body instanceof FormData
        ? { method: 'POST', body }
        : { method: 'POST', body: JSON.stringify(body), headers: JSON_TYPE };
    return (await readJson(await this.#call(path, init, signal))) as T;
  }

  async delete<T>(path: string): Promise<T> {
    return (await readJson(await this.#call(path, { method: 'DELETE' }))) as T;
  }

  async picture(path: string, signal?: AbortSignal): Promise<Blob> {
    return (await this.#call(path, {}, signal)).blob();
  }

  async #call(path: string, init: RequestInit, signal?: AbortSignal): Promise<Response> {
    const response = await this.#send(path, init, signal);
    if (response.ok) return response;
    const problem = await readRefusal(response);
    if (response.status === 401) this.#options.onUnauthorized();
    throw problem;
  }

  async #send(path: string, init: RequestInit, caller?: AbortSignal): Promise<Response> {
    const headers = new Headers(init.headers);
    const key = this.#options.key();
    try {
      if (key !== null) headers.set('authorization', `Bearer ${key}`);
      const timeout = AbortSignal.timeout(TIMEOUT_MS);
      const signal = caller === undefined ? timeout : AbortSignal.any([timeout, caller]);
      return await this.#options.fetch(path, { ...init, headers, signal });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw ServiceError.ofClient('unreachable', reason, { cause: error });
    }
  }
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (cause) {
    const detail = 'The answer broke off, or it is not an answer of this service.';
    throw ServiceError.ofClient('unexpected_answer', detail, { status: response.status, cause });
  }
}

/** The error answer of a proxy is no problem document. */
async function readRefusal(response: Response): Promise<ServiceError> {
  const isProblem = response.headers.get('content-type')?.includes('application/problem+json');
  if (isProblem === true) return new ServiceError((await readJson(response)) as Problem);
  const detail = `HTTP ${response.status}, which is not an answer of the service itself.`;
  return ServiceError.ofClient('unexpected_answer', detail, { status: response.status });
}
