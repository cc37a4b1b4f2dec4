/** One call of the HTTP API: within a deadline, repeated after the service's `Retry-After`. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Problem } from '../errors.js';
import { Deadline } from './deadline.js';
import { isBrokenOff, unreachable } from './no-answer.js';
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
      for (;;) {
        const outcome = this.#read(await this.#answer(call, deadline));
        if (!(outcome instanceof ServiceError)) return outcome.json;
        const pauseMs = retryPauseMs(outcome);
        if (pauseMs === null || pauseMs >= deadline.leftMs) throw outcome;
        await sleep(pauseMs, undefined, { signal: deadline.signal });
      }
    } catch (error) {
      throw this.#explain(error, call, deadline, signal);
    }
  }

  /** A service that closes an idle connection, or stops, breaks off a request that arrives at that moment. */
  async #answer(call: ApiCall, deadline: Deadline): Promise<Answer> {
    try {
      return await this.#send(call, deadline);
    } catch (error) {
      if (!call.repeatable || !isBrokenOff(error)) throw error;
      return this.#send(call, deadline);
    }
  }

  async #send({ method, path, body, headers }: ApiCall, deadline: Deadline): Promise<Answer> {
    const response = await fetch(`${this.baseUrl}${path}`, {
      method,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...this.headers,
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // Followed, a redirection would lose the key or turn a POST into a GET.
      redirect: 'manual',
      signal: deadline.signal,
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  #read({ status, headers, text }: Answer): { json: unknown } | ServiceError {
    const json = parse(text);
    if (status >= 200 && status < 300 && json !== undefined) return { json };
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
