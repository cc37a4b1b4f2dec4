/** One call of the HTTP API: within a deadline, repeated after the service's `Retry-After`. */
import { Deadline, pause } from './deadline.js';
import { isBrokenOff, isProblem, ServiceError, unreachable } from './service-error.js';

/** Clients that were refused together do not all return together. */
const SPREAD = 0.2;

export interface CallOptions {
  /** Longest time of the call, with every repeat of it. */
  deadlineMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface ApiCall {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path with the query. */
  path: string;
  /** A form and bytes are sent as they are, a text is JSON already, any other value is sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Idempotent: it is sent again when the connection breaks. */
  repeatable: boolean;
}

export interface Access {
  /** URL of the service, without `/v1`; by default port 8000 of this machine. */
  url?: string | undefined;
  apiKey?: string | undefined;
  /** False: a call that is refused with `Retry-After` rejects at once. */
  retry?: boolean;
  /** Called when a call is refused because the key is missing or unknown. */
  onUnauthorized?: () => void;
  /** Called after each attempt: true when anything answered, false when no connection could be made. */
  onReached?: (isReached: boolean) => void;
}

export const DEFAULT_SERVICE_URL = 'http://127.0.0.1:8000';

export class HttpCaller {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly #access: Access;

  /** Throws `TypeError` when the address is none, or the key cannot be one. */
  constructor(access: Access) {
    const { url = DEFAULT_SERVICE_URL, apiKey } = access;
    this.baseUrl = readServiceUrl(url);
    // The error of `fetch` would show the key.
    if (apiKey !== undefined && !/^[!-~]+$/.test(apiKey)) {
      throw new TypeError('The API key must be printable ASCII without spaces.');
    }
    this.headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    this.#access = access;
  }

  /** The JSON of a 2xx answer. Rejects with `ServiceError`, or with the reason of the caller's signal. */
  json(call: ApiCall, deadlineMs: number, signal?: AbortSignal): Promise<unknown> {
    return this.#answer(call, new Deadline(deadlineMs, signal), async (response) => {
      const json = parse(await response.text());
      return json === undefined ? this.#notOurs(response) : json;
    });
  }

  /** The body of a 2xx answer. Rejects as `json` does. */
  blob(call: ApiCall, deadlineMs: number, signal?: AbortSignal): Promise<Blob> {
    return this.#answer(call, new Deadline(deadlineMs, signal), (response) => response.blob());
  }

  /**
   * The body of a 2xx answer as it arrives; the deadline is that of the last byte. Rejects as `json` does, also in the
   * middle, when the connection breaks.
   */
  async *bytes(
    call: ApiCall,
    deadlineMs: number,
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    const deadline = new Deadline(deadlineMs, signal);
    const body = await this.#answer(call, deadline, (response) =>
      Promise.resolve(response.body ?? this.#notOurs(response)),
    );
    try {
      yield* chunksOf(body);
    } catch (error) {
      throw this.#explain(error, call, deadline);
    }
  }

  /** Resolves to the result of `read` for a 2xx answer. */
  async #answer<T>(
    call: ApiCall,
    deadline: Deadline,
    read: (response: Response) => Promise<T | ServiceError>,
  ): Promise<T> {
    try {
      return await this.#retried(call, deadline, async () => {
        const response = await this.#send(call, deadline);
        this.#access.onReached?.(true);
        return response.ok ? read(response) : this.#refusal(response);
      });
    } catch (error) {
      if (error instanceof ServiceError && error.status === 401) this.#access.onUnauthorized?.();
      const explained = this.#explain(error, call, deadline);
      const { code } = explained instanceof ServiceError ? explained : { code: null };
      if (code === 'unreachable') this.#access.onReached?.(false);
      throw explained;
    }
  }

  /** Tries again after the service's `Retry-After`, as long as the deadline allows. */
  async #retried<T>(
    call: ApiCall,
    deadline: Deadline,
    attempt: () => Promise<T | ServiceError>,
  ): Promise<T> {
    for (;;) {
      // A service that closes an idle connection, or stops, breaks off a request that arrives at that moment.
      const outcome = await attempt().catch((error: unknown) => {
        if (!call.repeatable || !isBrokenOff(error)) throw error;
        return attempt();
      });
      if (!(outcome instanceof ServiceError)) return outcome;
      const pauseMs = this.#access.retry === false ? null : retryPauseMs(outcome);
      if (pauseMs === null || pauseMs >= deadline.leftMs) throw outcome;
      await pause(pauseMs, deadline.signal);
      deadline.signal.throwIfAborted();
    }
  }

  #send({ method, path, body, headers }: ApiCall, deadline: Deadline): Promise<Response> {
    const isPlain = body instanceof FormData || body instanceof Uint8Array || body instanceof Blob;
    const isJson = body !== undefined && !isPlain;
    return fetch(`${this.baseUrl}${path}`, {
      method,
      headers: {
        accept: 'application/json',
        ...(isJson ? { 'content-type': 'application/json' } : {}),
        ...this.headers,
        ...headers,
      },
      ...(body === undefined ? {} : { body: isPlain ? (body as FormData) : jsonText(body) }),
      // Followed, a redirection would lose the key or turn a POST into a GET.
      redirect: 'manual',
      signal: deadline.signal,
    });
  }

  async #refusal(response: Response): Promise<ServiceError> {
    const { status, headers } = response;
    const json = parse(await response.text());
    if (status < 400 || !isProblem(json)) return this.#notOurs(response);
    return new ServiceError(json, { retryAfterS: retryAfterS(headers) });
  }

  #notOurs({ status, headers }: Response): ServiceError {
    const to = headers.has('location') ? ` to ${headers.get('location')}` : '';
    const by = headers.has('server') ? ` by ${headers.get('server')}` : '';
    return ServiceError.ofClient(
      'unexpected_answer',
      `${this.baseUrl} answers HTTP ${status}${to}${by}, which is not an answer of the service. Check the address.`,
      { status, request_id: headers.get('x-request-id') ?? undefined },
    );
  }

  #explain(error: unknown, call: ApiCall, deadline: Deadline): unknown {
    if (error instanceof ServiceError) return error;
    if (deadline.passed) {
      const what = `${call.method} ${call.path.replace(/\?.*/, '')}`;
      const detail = `The service at ${this.baseUrl} gave no answer to ${what} within ${deadline.ms / 1000} s.`;
      return ServiceError.ofClient('timeout', detail, { cause: error });
    }
    if (deadline.caller?.aborted === true) return deadline.caller.reason;
    return unreachable(this.baseUrl, error);
  }
}

function jsonText(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

/**
 * An address as a user writes it, without a slash at the end. Throws `TypeError` with a sentence for anything but a
 * plain HTTP address.
 */
function readServiceUrl(text: string): string {
  const shown = text.replace(/\/\/[^/]*@/, '//...@');
  const wrong = `The address of the service is "${shown}", but it must`;
  if (!URL.canParse(text)) throw new TypeError(`${wrong} have the shape http://HOST:8000.`);
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError(`${wrong} start with http:// or https://.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError(`${wrong} name no user: access is by API key.`);
  }
  if (url.search !== '' || url.hash !== '') {
    throw new TypeError(`${wrong} be a plain address, http://HOST:8000.`);
  }
  const path = url.pathname.replace(/\/+$/, '');
  if (path.endsWith('/v1')) throw new TypeError(`${wrong} end before /v1.`);
  return `${url.origin}${path}`;
}

/**
 * Yields the chunks of a stream by a reader, because not every browser iterates over a stream. A reader that stops
 * early ends the connection.
 */
async function* chunksOf<T>(body: ReadableStream<T>): AsyncGenerator<T, void> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Null if a repeat would not help or the service gives no time. */
function retryPauseMs({ status, retryAfterS }: ServiceError): number | null {
  if ((status !== 429 && status !== 503) || retryAfterS === undefined) return null;
  return retryAfterS * 1000 * (1 + Math.random() * SPREAD);
}

/** Seconds or, from some proxies, a date. */
function retryAfterS(headers: Headers): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
