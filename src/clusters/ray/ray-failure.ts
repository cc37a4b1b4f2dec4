/** Why a Ray cluster gives no status, in words that an operator can act on. */
import { status, type ServiceError } from '@grpc/grpc-js';

/** The message is a clause without a full stop, fit to follow "Reason: ". */
export class RayFailure extends Error {
  override readonly name: string = 'RayFailure';

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

/** The deadline passed: the session may still be good. */
export class NoAnswer extends RayFailure {
  override readonly name = 'NoAnswer';

  constructor(waitedMs?: number, cause?: unknown) {
    const within = waitedMs === undefined ? 'in time' : `within ${waitedMs / 1_000} s`;
    super(`deadline, no answer ${within}`, cause);
  }
}

/** The failure behind anything that a call or a stream of gRPC threw. `waitedMs` is the deadline it had. */
export function toRayFailure(thrown: unknown, waitedMs?: number): RayFailure {
  if (thrown instanceof RayFailure) return thrown;
  if (!isServiceError(thrown)) return new RayFailure(shorten(String(thrown)), thrown);
  switch (thrown.code) {
    case status.DEADLINE_EXCEEDED:
      return new NoAnswer(waitedMs, thrown);
    case status.UNAUTHENTICATED:
    case status.PERMISSION_DENIED:
      return new RayFailure(
        "unauthenticated, LATTICE_RAY_TOKEN_FILE must name a file with the cluster's token",
        thrown,
      );
    case status.UNAVAILABLE:
      return noConnection(thrown);
    case status.UNIMPLEMENTED:
      return new RayFailure(NOT_RAY, thrown);
    default:
      return new RayFailure(
        `session lost: ${status[thrown.code]} ${shorten(thrown.details)}`,
        thrown,
      );
  }
}

const NOT_RAY = 'what listens there is not the client server of a Ray head';

function noConnection(error: ServiceError): RayFailure {
  const { details } = error;
  if (details.includes('ECONNREFUSED')) {
    return new RayFailure('connection refused, nothing listens there', error);
  }
  if (details.includes('Protocol error')) return new RayFailure(NOT_RAY, error);
  if (details.startsWith('Name resolution failed')) {
    return new RayFailure("unreachable, the host's name cannot be resolved", error);
  }
  // gRPC puts the time of the failure and notes of its own around the error.
  const [, inner = details] =
    /Last error: (.*?)(?: \(\d{4}-|\.? Resolution note|$)/.exec(details) ?? [];
  return new RayFailure(`unreachable: ${shorten(inner)}`, error);
}

/** `message` is a Python traceback; its last line names the error. */
export function initFailed(message: string): RayFailure {
  const lines = message.split('\n').map((line) => line.trim());
  return new RayFailure(`init failed: ${shorten(lines.findLast(Boolean) ?? 'no reason')}`);
}

function isServiceError(thrown: unknown): thrown is ServiceError {
  return thrown instanceof Error && 'code' in thrown && 'details' in thrown;
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
  return line.length <= 300 ? line : `${line.slice(0, 299)}…`;
}
