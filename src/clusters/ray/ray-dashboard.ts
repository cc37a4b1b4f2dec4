/**
 * Calls of a Ray dashboard. Never through `fetch`: Node's sends `sec-fetch-mode`, and the dashboard answers whatever
 * writes with that header 405, as it would a browser.
 */
import { request as httpRequest, type ClientRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text as readText } from 'node:stream/consumers';
import { ConfigError } from '../../settings/config.js';

/** The message is one sentence without a full stop. */
export class DashboardError extends Error {
  override readonly name = 'DashboardError';
  /** HTTP status; null when there was no answer. */
  readonly status: number | null;
  readonly timedOut: boolean;

  constructor(message: string, status: number | null, timedOut = false) {
    super(message);
    this.status = status;
    this.timedOut = timedOut;
  }
}

export interface DashboardCall {
  method: 'GET' | 'PUT' | 'POST';
  /** Path beneath the dashboard's own address; begins with a slash. */
  path: string;
  body?: { type: string; bytes: Uint8Array };
  /** Deadline for connecting, sending and the whole answer. */
  deadlineMs: number;
}

/** Throws a `ConfigError` of one sentence unless it is http(s)://HOST[:PORT][/PATH]. */
export function parseDashboardUrl(given: string): URL {
  const url = URL.canParse(given) ? new URL(given) : null;
  const usable =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    !['10001', '6379'].includes(url.port) &&
    url.username === '' &&
    url.search === '' &&
    url.hash === '';
  if (usable) return url;
  throw new ConfigError(
    `LATTICE_RAY_DASHBOARD=${given} cannot be used: name the dashboard of the Ray head, http://HOST:8265.`,
  );
}

export class RayDashboard {
  readonly #base: URL;
  readonly #token: string | null;
  readonly #signal: AbortSignal;

  /** `signal` ends every call. */
  constructor(base: URL, token: string | null, signal: AbortSignal) {
    this.#base = base;
    this.#token = token;
    this.#signal = signal;
  }

  /** The body of a 2xx answer. Rejects with a `DashboardError`. */
  async call(call: DashboardCall): Promise<string> {
    const timeout = AbortSignal.timeout(call.deadlineMs);
    const signal = AbortSignal.any([timeout, this.#signal]);
    let answer: { status: number; text: string };
    try {
      answer = await exchange(this.#open(call, signal), call.body?.bytes);
    } catch (error) {
      if (timeout.aborted) {
        const within = call.deadlineMs / 1_000;
        throw new DashboardError(`it gave no answer within ${within} s`, null, true);
      }
      throw new DashboardError(`it cannot be reached: ${String(error)}`, null);
    }
    const { status, text } = answer;
    if (status >= 200 && status < 300) return text;
    throw new DashboardError(refusalOf(status, text), status);
  }

  #open({ method, path, body }: DashboardCall, signal: AbortSignal): ClientRequest {
    const url = new URL(this.#base.pathname.replace(/\/$/, '') + path, this.#base);
    const headers = {
      ...(this.#token === null ? {} : { authorization: `Bearer ${this.#token}` }),
      ...(body && { 'content-type': body.type, 'content-length': body.bytes.byteLength }),
    };
    const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
    // A connection of its own: one kept from before would break with the head it led to.
    return request(url, { method, headers, signal, agent: false });
  }
}

function exchange(
  request: ClientRequest,
  body: Uint8Array | undefined,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      readText(response).then((text) => {
        resolve({ status: response.statusCode ?? 0, text });
      }, reject);
    });
    request.end(body);
  });
}

function refusalOf(status: number, text: string): string {
  if (status === 401 || status === 403) {
    return `it answered ${status}, LATTICE_RAY_TOKEN_FILE must name a file with the cluster's token`;
  }
  // Refusals of the dashboard are Python tracebacks; the last line names the error.
  const last = text.split('\n').findLast((line) => line.trim() !== '') ?? '';
  return `it answered ${status} ${last.trim().slice(0, 300)}`.replace(/[ .]+$/, '');
}
