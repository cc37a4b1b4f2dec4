/** Variables of a request, from the first middleware to its handler. */
import type { Context } from 'hono';
import type { ErrorCode } from '../api/errors.js';
import type { TraceContext } from '../base/trace-context.js';

interface RequestVariables {
  requestId: string;
  /** Owner of jobs submitted with this request; null without authentication. */
  keyId: string | null;
  /** True: the request comes from a web page of another origin, which may not do all that programs may. */
  foreignPage: boolean;
  /** True: the request may change things that all keys share: without authentication, or with a key that may. */
  isAdmin: boolean;
  /** Headers that every answer to this request carries. */
  baseHeaders: Record<string, string>;
  /** Path template of the matched route. */
  route: string | undefined;
  /** Trace of the caller; absent where it sent none. */
  trace: TraceContext | null;
  /** Code of an answer that is a problem. */
  errorCode: ErrorCode | undefined;
  /** The model that the request names, or the default one. */
  modelName: string | undefined;
  /** The job that it is about. */
  jobId: string | undefined;
}

/** Variables only: bindings differ between a listening server and `app.request()`. */
export interface AppEnv {
  Variables: RequestVariables;
}

export type AppContext = Context<AppEnv>;
