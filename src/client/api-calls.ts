/** Calls of the API within the deadlines of a client, and how their queries and forms are written. */
import type { ApiCall, CallOptions, HttpCaller } from './http-call.js';
import type { DetectRequest } from './records.js';

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
export function queryOf(
  values: Record<string, string | number | readonly string[] | undefined>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) query.set(name, textOf(value));
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

/** Commas separate the parts of a list, but not in JSON. */
function textOf(value: string | number | readonly string[]): string {
  if (typeof value !== 'object') return String(value);
  return value.some((part) => part.includes(',')) ? JSON.stringify(value) : value.join(',');
}

/** A field of a form: a list of names is the field once per name. */
export function formTexts(value: DetectRequest[keyof DetectRequest]): string[] {
  if (value === null || value === undefined) return [];
  const isNames = Array.isArray(value) && value.every((each) => typeof each === 'string');
  if (typeof value === 'object' && !isNames) return [JSON.stringify(value)];
  // Commas separate names, but not in JSON.
  return [value]
    .flat()
    .map((each) => String(each))
    .map((text) => (text.includes(',') ? JSON.stringify([text]) : text));
}

/** A random Idempotency-Key. `randomUUID` is missing in pages of plain `http://` addresses. */
export function randomKey(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(18));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
