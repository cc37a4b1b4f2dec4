/** Why a Ray cluster gives no status, in words that an operator can act on. */
import { status, type ServiceError } from '@grpc/grpc-js';

export type RayFailureKind =
  'refused' | 'unreachable' | 'deadline' | 'unauthenticated' | 'init' | 'lost';

/** The message is a clause without a full stop, fit to follow "Reason: ". */
export class RayFailure extends Error {
  override readonly name = 'RayFailure';
  readonly kind: RayFailureKind;

  constructor(kind: RayFailureKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }

  /** Nobody was there to notice the attempt. */
  get unnoticed(): boolean {
    return this.kind === 'refused' || this.kind === 'unreachable';
  }
}

/** The failure behind anything that a call or a stream of gRPC threw. `waitedMs` is the deadline it had. */
export function toRayFailure(thrown: unknown, waitedMs?: number): RayFailure {
  if (thrown instanceof RayFailure) return thrown;
  if (!isServiceError(thrown)) return new RayFailure('lost', shorten(String(thrown)), thrown);
  switch (thrown.code) {
    case status.DEADLINE_EXCEEDED:
      return noAnswer(waitedMs, thrown);
    case status.UNAUTHENTICATED:
    case status.PERMISSION_DENIED:
      return new RayFailure(
        'unauthenticated',
        "unauthenticated, LATTICE_RAY_TOKEN_FILE must name a file with the cluster's token",
        thrown,
      );
    case status.UNAVAILABLE:
      return noConnection(thrown);
    case status.UNIMPLEMENTED:
      return new RayFailure('unreachable', NOT_RAY, thrown);
    default:
      return new RayFailure(
        'lost',
        `session lost: ${status[thrown.code]} ${shorten(thrown.details)}`,
        thrown,
      );
  }
}

const NOT_RAY = 'what listens there is not the client server of a Ray head';

function noConnection(error: ServiceError): RayFailure {
  const { details } = error;
  if (details.includes('ECONNREFUSED')) {
    return new RayFailure('refused', 'connection refused, nothing listens there', error);
  }
  if (details.includes('Protocol error')) return new RayFailure('unreachable', NOT_RAY, error);
  if (details.startsWith('Name resolution failed')) {
    return new RayFailure('unreachable', "unreachable, the host's name cannot be resolved", error);
  }
  // gRPC puts the time of the failure and notes of its own around the error.
  const [, inner = details] =
    /Last error: (.*?)(?: \(\d{4}-|\.? Resolution note|$)/.exec(details) ?? [];
  return new RayFailure('unreachable', `unreachable: ${shorten(inner)}`, error);
}

export function noAnswer(waitedMs?: number, cause?: unknown): RayFailure {
  const within = waitedMs === undefined ? 'in time' : `within ${waitedMs / 1_000} s`;
  return new RayFailure('deadline', `deadline, no answer ${within}`, cause);
}

/** `message` is a Python traceback; its last line names the error. */
export function initFailed(message: string): RayFailure {
  const lines = message.split('\n').map((line) => line.trim());
  return new RayFailure('init', `init failed: ${shorten(lines.findLast(Boolean) ?? 'no reason')}`);
}

function isServiceError(thrown: unknown): thrown is ServiceError {
  return thrown instanceof Error && 'code' in thrown && 'details' in thrown;
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
  return line.length <= 300 ? line : `${line.slice(0, 299)}…`;
}
