/** A refusal of the service, or why there was no answer of it. */
import type { ErrorCode, ErrorItem, Problem } from './records.js';

/** Codes of a connection that had been open: the service, or something between, closed it. */
const BROKEN_OFF = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
const SILENT = new Set(['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT']);
const CERTIFICATE = /CERT|SIGNED|ISSUER|ALTNAME|VERIFY/;

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
  /** Status of the HTTP answer; null where there was none. */
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

  /** An error that the service did not send itself. */
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

  /** A later try may succeed: there was no answer of the service, or it could not do it at this moment. */
  get isPassing(): boolean {
    if (this.code === 'unreachable' || this.code === 'timeout') return true;
    return this.status !== null && (this.status >= 500 || this.status === 429);
  }
}

export function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'code' in value && 'detail' in value;
}

/** `unreachable`, with the address and the reason as one sentence. */
export function unreachable(baseUrl: string, error: unknown): ServiceError {
  const detail = `The service at ${baseUrl} cannot be reached: ${reason(new URL(baseUrl), error)}.`;
  return ServiceError.ofClient('unreachable', detail, { cause: error });
}

export function isBrokenOff(error: unknown): boolean {
  return BROKEN_OFF.has(codeOf(error));
}

function reason({ host, hostname }: URL, error: unknown): string {
  const code = codeOf(error);
  if (code === 'ECONNREFUSED') return `nothing listens at ${host} (connection refused)`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the host name ${hostname} is unknown`;
  if (SILENT.has(code)) return `${host} gives no answer (a firewall, a wrong host, or it hangs)`;
  if (BROKEN_OFF.has(code)) return `${host} broke the connection off`;
  if (code.startsWith('HPE_')) return `${host} does not speak HTTP`;
  if (CERTIFICATE.test(code)) {
    return `the TLS certificate of ${host} is not trusted here (${code}; see NODE_EXTRA_CA_CERTS)`;
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL')) return `${host} does not speak TLS`;
  return `${innermost(error)}${code === '' ? '' : ` (${code})`}`;
}

/** `fetch` hides the error of the system in its causes. */
function codeOf(error: unknown): string {
  for (let each = error; each instanceof Error; each = each.cause) {
    const { code } = each as NodeJS.ErrnoException;
    if (typeof code === 'string') return code;
  }
  return '';
}

function innermost(error: unknown): string {
  let message = String(error);
  for (let each = error; each instanceof Error; each = each.cause) message = each.message;
  return message;
}
