/** The trace of which a request is a part, as W3C Trace Context (`traceparent`) carries it from program to program. */
import { randomBytes } from 'node:crypto';

export interface TraceContext {
  /** 32 hex digits. */
  traceId: string;
  /** 16 hex digits: of the caller's span, or of one that the service makes. */
  spanId: string;
  /** 2 hex digits. */
  flags: string;
}

const VERSION = '00';
/** A later version may have more fields behind these four. */
const TRACEPARENT =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** Null: there is none, or it is none that the specification allows. */
export function readTraceparent(text: string | undefined): TraceContext | null {
  const [, version, traceId, spanId, flags, rest] = TRACEPARENT.exec(text ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return version === VERSION && rest !== undefined ? null : { traceId, spanId, flags };
}

export const traceparentOf = ({ traceId, spanId, flags }: TraceContext): string =>
  `${VERSION}-${traceId}-${spanId}-${flags}`;

/** A span of the same trace. */
export const childOf = (context: TraceContext): TraceContext => ({
  ...context,
  spanId: randomBytes(8).toString('hex'),
});
