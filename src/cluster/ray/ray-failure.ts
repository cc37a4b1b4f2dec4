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
  const details = shorten(thrown.details);
  switch (thrown.code) {
    case status.DEADLINE_EXCEEDED:
      return noAnswer(waitedMs, thrown);
    case status.UNAUTHENTICATED:
    case status.PERMISSION_DENIED:
      return new RayFailure(
        'unauthenticated',
        'unauthenticated, the cluster wants its token: name a file with it in LATTICE_RAY_TOKEN_FILE',
        thrown,
      );
    case status.UNAVAILABLE:
      return details.includes('ECONNREFUSED')
        ? new RayFailure('refused', 'connection refused, nothing listens there', thrown)
        : new RayFailure('unreachable', `unreachable: ${details}`, thrown);
    default:
      return new RayFailure('lost', `session lost: ${status[thrown.code]} ${details}`, thrown);
  }
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
