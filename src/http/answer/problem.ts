/** Every error answer: an error of `src/api/errors.ts` as `application/problem+json` (RFC 9457). */
import { toProblem, type HideFolders } from '../../answers/shown-problem.js';
import { toLatticeError, type LatticeError } from '../../api/errors.js';
import type { Logger } from '../../base/logger-port.js';
import type { AppContext } from '../app-env.js';
import { replyRaw } from './reply.js';

export const PROBLEM_TYPE = 'application/problem+json';

/** Answers with any thrown value. 429 and 503 always have `Retry-After`. */
export function replyProblem(c: AppContext, thrown: unknown, hide: HideFolders): Response {
  const error = toLatticeError(thrown);
  c.set('errorCode', error.code);
  const headers: Record<string, string> = {
    'content-type': PROBLEM_TYPE,
    'cache-control': 'no-store',
  };
  const mayBeRetried = error.status === 429 || error.status === 503;
  const retryAfterS = error.retryAfterS ?? (mayBeRetried ? 1 : undefined);
  if (retryAfterS !== undefined)
    headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfterS)));
  if (error.status === 401) headers['www-authenticate'] = 'Bearer';
  const body = JSON.stringify(toProblem(error, hide, c.get('requestId')));
  return replyRaw(c, error.status, body, headers);
}

/**
 * A 503 or 504 is an answer of a busy service, not a defect: the stack of a 504 tells nothing. A 507 is the state of a
 * disk or quota.
 */
export function logDefect(c: AppContext, error: LatticeError, logger: Logger): void {
  const { status, code } = error;
  if (status < 500 || status === 503) return;
  const route = `${c.req.method} ${c.get('route') ?? 'unmatched'}`;
  const facts = { code, request_id: c.get('requestId') };
  if (status === 507) {
    logger.warn({ ...facts, detail: error.message }, `${route} has no room`);
    return;
  }
  const defect = status === 504 ? {} : { err: error.cause ?? error };
  logger.error({ ...defect, ...facts }, `${route} failed`);
}
