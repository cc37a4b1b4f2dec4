/** The HTTP app without its resources: envelope, errors, unknown routes. */
import { OpenAPIHono } from '@hono/zod-openapi';
import { LatticeError, toLatticeError } from '../api/errors.js';
import type { AppDeps } from './app-deps.js';
import type { AppEnv } from './app-env.js';
import type { BrowserAccess } from './browser-access.js';
import { envelope } from './envelope.js';
import { replyProblem, type HideFolders } from './problem.js';
import { methodsOf } from './route.js';

export function createHttpApp(
  deps: AppDeps,
  access: BrowserAccess,
  hide: HideFolders,
): OpenAPIHono<AppEnv> {
  // Not strict: `/docs/` is `/docs`, for people who type it and proxies that add the slash.
  const app = new OpenAPIHono<AppEnv>({ strict: false });
  app.use('*', envelope(deps, access, hide));
  app.onError((thrown, c) => {
    const error = toLatticeError(thrown);
    const { status, code } = error;
    if (status >= 500 && status !== 503) {
      // A 504 is an answer of a busy service, not a defect: its stack tells nothing.
      const defect =
        status === 504 ? {} : { err: error.cause ?? error, request_id: c.get('requestId') };
      const route = `${c.req.method} ${c.get('route') ?? 'unmatched'}`;
      deps.logger.error({ ...defect, code }, `${route} failed`);
    }
    return replyProblem(c, error, hide);
  });
  app.notFound((c) => {
    const methods = methodsOf(app, c.req.path);
    if (methods.length === 0) {
      return replyProblem(c, new LatticeError('not_found', 'There is no such route.'), hide);
    }
    const detail = `This route takes ${methods.join(', ')}.`;
    const answer = replyProblem(c, new LatticeError('method_not_allowed', detail), hide);
    answer.headers.set('allow', methods.join(', '));
    return answer;
  });
  return app;
}
