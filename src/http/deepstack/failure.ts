/** Errors as DeepStack answers them: a real status, and JSON that its clients can read. */
import { LatticeError, toLatticeError, type ErrorCode } from '../../api/errors.js';
import type { Logger } from '../../base/logger-port.js';
import type { AppContext } from '../app-env.js';
import type { HideFolders } from '../problem.js';
import { replyJson } from '../reply.js';
import type { RouteHandler } from '../route-table.js';
import type { Failure } from './deepstack.schema.js';

/** In DeepStack's own words, by which some clients know them. */
const SENTENCES: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'Incorrect api key',
  invalid_image: 'invalid image file',
  unsupported_image_format: 'invalid image file',
  image_too_large: 'invalid image file',
};
export const NO_IMAGE = 'No valid image file found';

/** `handler`, whose errors are answered here and not as problems. */
export function answeringFailures(
  handler: RouteHandler,
  logger: Logger,
  hide: HideFolders,
): RouteHandler {
  return async (c) => {
    try {
      return await handler(c);
    } catch (thrown) {
      const error = toLatticeError(thrown);
      if (error.status >= 500 && error.status !== 503) {
        const defect = { err: error.cause ?? error, code: error.code };
        logger.error(defect, `${c.get('route') ?? 'unmatched'} failed`);
      }
      return replyFailure(c, error, hide);
    }
  };
}

function replyFailure(c: AppContext, error: LatticeError, hide: HideFolders): Response {
  const code = statusOf(error);
  const missing = error.errors?.some(({ pointer }) => pointer === '#/image') === true;
  const sentence = missing ? NO_IMAGE : (SENTENCES[error.code] ?? hide(error.message));
  const body: Failure = { success: false, error: sentence, code, predictions: [], duration: 0 };
  const retry = code === 503 || code === 429;
  const seconds = String(Math.max(1, Math.ceil(error.retryAfterS ?? 1)));
  return replyJson(c, code, body, retry ? { 'retry-after': seconds } : {});
}

function statusOf({ code, status }: LatticeError): number {
  if (code === 'unknown_model') return 404;
  return status === 422 ? 400 : status;
}
