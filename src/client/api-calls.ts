/** Calls of the API within the deadlines of a client, and how their queries and forms are written. */
import type { ApiCall, CallOptions, HttpCaller } from './http-call.js';

export const CALL_MS = 30_000;
/** A result may be of many thousand images. */
export const RESULT_MS = 300_000;

export class ApiCalls {
  readonly #http: HttpCaller;
  readonly #deadlineMs: number | undefined;

  /** `deadlineMs`: undefined if each call has a deadline of its own. */
  constructor(http: HttpCaller, deadlineMs: number | undefined) {
    this.#http = http;
    this.#deadlineMs = deadlineMs;
  }

  get<T>(path: string, options?: CallOptions, fallbackMs?: number): Promise<T> {
    return this.call({ method: 'GET', path, repeatable: true }, options, fallbackMs);
  }

  post<T>(
    path: string,
    body: unknown,
    headers: Record<string, string>,
    options?: CallOptions,
  ): Promise<T> {
    return this.call({ method: 'POST', path, body, headers, repeatable: true }, options);
  }

  async call<T>(call: ApiCall, options: CallOptions = {}, fallbackMs = CALL_MS): Promise<T> {
    const longestMs = this.#longestMs(options, fallbackMs);
    return (await this.#http.json(call, longestMs, options.signal)) as T;
  }

  /** Fetches a file in chunks. */
  file(
    path: string,
    options: CallOptions = {},
    fallbackMs = RESULT_MS,
  ): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    const call = { method: 'GET', path, repeatable: true } as const;
    return this.#http.bytes(call, this.#longestMs(options, fallbackMs), options.signal);
  }

  blob(path: string, options: CallOptions = {}, method: ApiCall['method'] = 'GET'): Promise<Blob> {
    const call = { method, path, repeatable: method === 'GET' };
    return this.#http.blob(call, this.#longestMs(options, CALL_MS), options.signal);
  }

  #longestMs({ deadlineMs }: CallOptions, fallbackMs: number): number {
    return deadlineMs ?? this.#deadlineMs ?? fallbackMs;
  }
}

/** The query of the values that are given. */
export function queryOf(values: object): string {
  const query = new URLSearchParams(textsOf(values));
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

/** The given values of a query or a form as texts. */
export function textsOf(values: object): [string, string][] {
  return Object.entries(values).flatMap(([name, value]: [string, unknown]) =>
    value === undefined || value === null ? [] : [[name, textOf(value)]],
  );
}

/** Commas separate the names of a list; one with a comma in a name, and other lists and objects, are JSON. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const isNames =
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((each) => typeof each === 'string' && !each.includes(','));
  return isNames ? value.join(',') : JSON.stringify(value);
}

/** A random Idempotency-Key. `randomUUID` is missing in pages of plain `http://` addresses. */
export function randomKey(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(18));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
