/** Calls of a labelling tool over HTTP: each within a deadline, no more often than a rate. */
import { setTimeout as sleep } from 'node:timers/promises';
import { BackOff } from '../base/back-off.js';
import { parseRetryAfter } from '../base/retry-after.js';

export interface CallLimits {
  /** Longest time of one request with its answer. */
  deadlineMs: number;
  /** Most requests a second. */
  rate: number;
  /** Failures in a row after which the tool counts as gone. */
  tries: number;
}

/** Tests pass their own. */
export interface Clock {
  /** Milliseconds. */
  now: () => number;
  pause: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Aborted after so many milliseconds. */
  limit: (ms: number) => AbortSignal;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  pause: async (ms, signal) => {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  },
  limit: (ms) => AbortSignal.timeout(ms),
};

/** The tool cannot be used, or not any more; the message is for people. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/** `text`: the body; `json`: its value, undefined where it is no JSON. */
export interface Answer {
  kind: 'answered';
  status: number;
  text: string;
  json: unknown;
  /** Time to wait before the next request, as the tool says; 0 where it says none. */
  waitMs: number;
}

/** `unsent`: the tool knows nothing of the request. `lost`: it may have arrived, and no answer came. */
export type Outcome = Answer | { kind: 'unsent' | 'lost'; reason: string };

export interface Call {
  method: 'GET' | 'POST';
  path: string;
  /** Sent as JSON. */
  body?: unknown;
}

/** A call with its key. */
type Request = Call & { authorization?: string };

/** Codes of a connection that was never made. */
const NO_CONNECTION =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

export class Caller {
  readonly #url: string;
  readonly #limits: CallLimits;
  readonly #clock: Clock;
  #nextAt = 0;

  constructor(url: string, limits: CallLimits, clock: Clock) {
    this.#url = url;
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Rejects only with the reason of the signal. */
  async send(request: Request, signal: AbortSignal | undefined): Promise<Outcome> {
    await this.#turn(signal);
    const { deadlineMs } = this.#limits;
    const limit = this.#clock.limit(deadlineMs);
    try {
      const response = await this.#fetch(request, AbortSignal.any([limit, ...given(signal)]));
      const text = await response.text();
      const retryAfter = response.headers.get('retry-after');
      const waitMs = parseRetryAfter(retryAfter, Date.now() / 1000) * 1000;
      return { kind: 'answered', status: response.status, text, json: jsonOf(text), waitMs };
    } catch (error) {
      signal?.throwIfAborted();
      if (limit.aborted) {
        return { kind: 'lost', reason: `there was no answer within ${deadlineMs / 1000} s` };
      }
      const code = codeOf(error);
      const kind = NO_CONNECTION.test(code) ? 'unsent' : 'lost';
      const reason = kind === 'lost' ? 'the connection broke' : 'it cannot be reached';
      return { kind, reason: code === '' ? reason : `${reason} (${code})` };
    }
  }

  /** Waits until the rate allows the next request. */
  async #turn(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const now = this.#clock.now();
    const waitMs = this.#nextAt - now;
    this.#nextAt = Math.max(now, this.#nextAt) + 1000 / this.#limits.rate;
    if (waitMs > 0) await this.#clock.pause(waitMs, signal);
  }

  #fetch({ method, path, body, authorization }: Request, signal: AbortSignal): Promise<Response> {
    return fetch(`${this.#url}${path}`, {
      method,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(authorization === undefined ? {} : { authorization }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // Followed, a redirection would lose the key or turn a POST into a GET.
      redirect: 'manual',
      signal,
    });
  }
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/** Waits after failures, longer each time, and ends with a `ToolError` after too many in a row. */
export class Patience {
  readonly #tries: number;
  readonly #clock: Clock;
  readonly #backOff = new BackOff(FIRST_WAIT_MS, LONGEST_WAIT_MS);
  #failures = 0;

  constructor(tries: number, clock: Clock) {
    this.#tries = tries;
    this.#clock = clock;
  }

  async wait(outcome: Outcome, signal: AbortSignal | undefined): Promise<void> {
    this.#failures += 1;
    if (this.#failures >= this.#tries) {
      throw new ToolError(`Label Studio failed ${this.#tries} times: ${reasonOf(outcome)}.`);
    }
    const waitMs = outcome.kind === 'answered' ? outcome.waitMs : 0;
    await this.#clock.pause(Math.max(waitMs, this.#backOff.next()), signal);
  }

  /** Call after a success. */
  reset(): void {
    this.#failures = 0;
    this.#backOff.reset();
  }
}

const MOST_REASON = 300;

/** A part of a sentence; the text of an answer is cut. */
export function reasonOf(outcome: Outcome): string {
  if (outcome.kind !== 'answered') return outcome.reason;
  const { status, text, json } = outcome;
  const said = json === undefined ? '' : `: ${text.replace(/\s+/g, ' ').slice(0, MOST_REASON)}`;
  return `it answered HTTP ${status}${said}`;
}

/** Status of an answer that says: not now. */
export function isPassing(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429;
}

const given = (signal: AbortSignal | undefined) => (signal === undefined ? [] : [signal]);

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `fetch` hides the error of the system in its causes. */
function codeOf(error: unknown): string {
  for (let each = error; each instanceof Error; each = each.cause) {
    const { code } = each as NodeJS.ErrnoException;
    if (typeof code === 'string') return code;
  }
  return '';
}
