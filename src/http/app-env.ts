/** Variables of a request, from the first middleware to its handler. */
import type { Context } from 'hono';

interface RequestVariables {
  requestId: string;
  /** Owner of jobs submitted with this request; null without authentication. */
  keyId: string | null;
  /** Headers that every answer to this request carries. */
  baseHeaders: Record<string, string>;
  /** Path template of the matched route. */
  route: string | undefined;
}

/** Variables only: bindings differ between a listening server and `app.request()`. */
export interface AppEnv {
  Variables: RequestVariables;
}

export type AppContext = Context<AppEnv>;
