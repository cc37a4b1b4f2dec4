/** One call of the HTTP API: within a deadline, repeated after the service's `Retry-After`. */
import { Deadline } from './deadline.js';
import { isBrokenOff, unreachable } from './no-answer.js';
import { pause } from './pause.js';
import type { Problem } from './records.js';
import { ServiceError } from './service-error.js';

/** Clients that were refused together do not all return together. */
const SPREAD = 0.2;

export interface CallOptions {
  /** Longest time of the call, with every repeat of it. */
  deadlineMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface ApiCall {
  method: 'GET' | 'POST' | 'DELETE';
  /** With the query. */
  path: string;
  /** A form is sent as it is, any other value as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Idempotent: it is sent again when the connection breaks. */
  repeatable: boolean;
}

interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

export class HttpCaller {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(baseUrl: string, apiKey: string | undefined) {
    this.baseUrl = baseUrl;
    this.headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  }

  /** The JSON of a 2xx answer. Rejects with `ServiceError`, or with the reason of the caller's signal. */
  async json(call: ApiCall, deadlineMs: number, signal?: AbortSignal): Promise<unknown> {
    const deadline = new Deadline(deadlineMs, signal);
    try {
      const outcome = await this.#retried(call, deadline, async () =>
        this.#read(await answerOf(await this.#send(call, deadline))),
      );
      return outcome.json;
    } catch (error) {
      throw this.#explain(error, call, deadline, signal);
    }
  }

  /**
   * The body of a 2xx answer as it arrives; the deadline is that of the last byte. Rejects as `json` does, also in the
   * middle, when the connection breaks.
   */
  async *bytes(
    call: ApiCall,
    deadlineMs: number,
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array, void> {
    const deadline = new Deadline(deadlineMs, signal);
    try {
      const body = await this.#retried(call, deadline, async () => {
        const response = await this.#send(call, deadline);
        if (response.ok && response.body !== null) return response.body;
        return this.#refusal(await answerOf(response));
      });
      yield* chunksOf(body);
    } catch (error) {
      throw this.#explain(error, call, deadline, signal);
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
      const pauseMs = retryPauseMs(outcome);
      if (pauseMs === null || pauseMs >= deadline.leftMs) throw outcome;
      await pause(pauseMs, deadline.signal);
      deadline.signal.throwIfAborted();
    }
  }

  #send({ method, path, body, headers }: ApiCall, deadline: Deadline): Promise<Response> {
    const isJson = body !== undefined && !(body instanceof FormData);
    return fetch(`${this.baseUrl}${path}`, {
      method,
      headers: {
        accept: 'application/json',
        ...(isJson ? { 'content-type': 'application/json' } : {}),
        ...this.headers,
        ...headers,
      },
      ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : body }),
      // Followed, a redirection would lose the key or turn a POST into a GET.
      redirect: 'manual',
      signal: deadline.signal,
    });
  }

  #read(answer: Answer): { json: unknown } | ServiceError {
    const json = parse(answer.text);
    const { status } = answer;
    return status >= 200 && status < 300 && json !== undefined ? { json } : this.#refusal(answer);
  }

  #refusal({ status, headers, text }: Answer): ServiceError {
    const json = parse(text);
    if (status >= 400 && isProblem(json)) {
      return new ServiceError(json, { retryAfterS: retryAfterS(headers) });
    }
    const to = headers.has('location') ? ` to ${headers.get('location')}` : '';
    const by = headers.has('server') ? ` by ${headers.get('server')}` : '';
    return ServiceError.ofClient(
      'unexpected_answer',
      `${this.baseUrl} answers HTTP ${status}${to}${by}, which is not an answer of the service. Check the address.`,
      { status, request_id: headers.get('x-request-id') ?? undefined },
    );
  }

  #explain(error: unknown, call: ApiCall, deadline: Deadline, signal?: AbortSignal): unknown {
    if (error instanceof ServiceError) return error;
    if (deadline.passed) {
      const what = `${call.method} ${call.path.replace(/\?.*/, '')}`;
      const detail = `The service at ${this.baseUrl} gave no answer to ${what} within ${deadline.ms / 1000} s.`;
      return ServiceError.ofClient('timeout', detail, { cause: error });
    }
    if (signal?.aborted === true) return signal.reason;
    return unreachable(this.baseUrl, error);
  }
}

async function answerOf(response: Response): Promise<Answer> {
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Not every browser iterates over a stream. A reader that stops early ends the connection. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
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

function isProblem(json: unknown): json is Problem {
  return typeof json === 'object' && json !== null && 'code' in json && 'detail' in json;
}
