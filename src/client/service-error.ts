/** What every call of the client rejects with: a refusal of the service, or why there was no answer of it. */
import type { ErrorCode, ErrorItem, Problem } from './records.js';

/** Codes beside those of the service. */
const CLIENT_TITLES = {
  unreachable: 'Service cannot be reached',
  timeout: 'Deadline of the call passed',
  unexpected_answer: 'Answer is not one of this service',
} as const;
export type ClientCode = keyof typeof CLIENT_TITLES;

export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode | ClientCode;
  readonly title: string;
  readonly detail: string;
  /** Of the HTTP answer; null where there was none. */
  readonly status: number | null;
  readonly request_id: string | undefined;
  /** Broken rules, with a pointer into the request. */
  readonly errors: readonly ErrorItem[];
  /** When to ask again, in seconds, as the service says. */
  readonly retryAfterS: number | undefined;

  constructor(
    problem: Omit<Problem, 'type' | 'code' | 'status'> & Pick<ServiceError, 'code' | 'status'>,
    options: { retryAfterS?: number | undefined; cause?: unknown } = {},
  ) {
    super(problem.detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = problem.code;
    this.title = problem.title;
    this.detail = problem.detail;
    this.status = problem.status;
    this.request_id = problem.request_id;
    this.errors = problem.errors ?? [];
    this.retryAfterS = options.retryAfterS;
  }

  /** For what the service did not say itself. */
  static ofClient(
    code: ClientCode,
    detail: string,
    { cause, ...more }: { status?: number; request_id?: string | undefined; cause?: unknown } = {},
  ): ServiceError {
    const problem = { code, title: CLIENT_TITLES[code], detail, status: more.status ?? null };
    const { request_id } = more;
    return new ServiceError(request_id === undefined ? problem : { ...problem, request_id }, {
      cause,
    });
  }

  /** The service may do it later: it is away, stops, or has too much to do. */
  get isPassing(): boolean {
    if (this.code === 'unreachable' || this.code === 'timeout') return true;
    return this.status !== null && (this.status >= 500 || this.status === 429);
  }
}
