import type { TraceContext } from './trace-context.js';

export type SpanFacts = Readonly<Record<string, string | number | undefined>>;

export interface Span {
  readonly context: TraceContext;
  /** `isFailed`: by a fault of the service, not of the caller. */
  end(name: string, facts: SpanFacts, isFailed: boolean): void;
}

/** The calls of the service to an exporter of traces. */
export interface Tracing {
  /** Begins a request; in the trace of its caller, where there is one. */
  begin(caller: TraceContext | null): Span;
  /** Work that has ended, in the trace of the request that asked for it. Times are Unix seconds. */
  record(
    name: string,
    asked: TraceContext | null,
    times: { from: number; to: number },
    facts: SpanFacts,
    isFailed: boolean,
  ): void;
}
