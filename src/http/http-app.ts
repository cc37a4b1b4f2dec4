/** The HTTP app without its resources: what applies to every request, errors, unknown routes. */
import { randomUUID } from 'node:crypto';
import { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { childOf, readTraceparent, traceparentOf } from '../base/trace-context.js';
import type { Span, SpanFacts } from '../base/tracing-port.js';
import { WORKER_PATH } from '../execution/wire/frames.js';
import { environmentName } from '../settings/config.js';
import { LatticeError, toLatticeError } from '../api/errors.js';
import { presentedOwner, type ApiKeys } from './access/api-keys.js';
import type { AppDeps } from './app-deps.js';
import type { AppContext, AppEnv } from './app-env.js';
import {
  NOT_FOREIGN,
  type BrowserAccess,
  type Page,
  type PageAccess,
} from './access/browser-access.js';
import { createRequestLog } from './request-log.js';
import { isOpenAt, methodsOf, pageAccessAt } from './route.js';
import type { HideFolders } from '../answers/shown-problem.js';
import { logDefect, replyProblem } from './answer/problem.js';
import { replyRaw } from './answer/reply.js';

const REQUEST_ID = /^[\w.:-]{1,128}$/;
const UNKNOWN_HOST = `Host header not allowed. Add the origin of a proxy to ${environmentName('corsOrigins')}.`;
const FIXED_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};
const FOREIGN_PAGE = `Only ${NOT_FOREIGN} may make this request.`;

/** `checksKey`: whether what lies at a path checks keys itself, so that it is reached without one. */
export function createHttpApp(
  deps: AppDeps,
  access: BrowserAccess,
  hide: HideFolders,
  checksKey: (path: string) => boolean,
): OpenAPIHono<AppEnv> {
  // Not strict: `/docs/` is `/docs`, for people who type it and proxies that add the slash.
  const app = new OpenAPIHono<AppEnv>({ strict: false });
  const isForeign = (c: AppContext) => access.isForeign(pageOf(c));
  const headersOf = (page: PageAccess, origin?: string) => ({
    ...FIXED_HEADERS,
    ...access.headers(page, origin),
  });
  // Those of callers that are no pages are made once.
  const programs = {
    reads: headersOf('reads'),
    detects: headersOf('detects'),
    own: headersOf('own'),
  };
  const sharedHeaders = (c: AppContext) => {
    const page = pageAccessAt(app, preflightMethod(c) ?? c.req.method, c.req.path);
    const origin = c.req.header('origin');
    return origin === undefined ? programs[page] : headersOf(page, origin);
  };
  const refuse = createRefuse(app, deps.apiKeys, access, hide, checksKey);
  app.use('*', envelope(deps, isForeign, sharedHeaders, refuse));
  app.onError((thrown, c) => {
    const error = toLatticeError(thrown);
    logDefect(c, error, deps.logger);
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

type HeadersOf = (c: AppContext) => Record<string, string>;
/** Null: the request is answered by its route. */
type Refuse = (c: AppContext) => Promise<Response | null>;

/** Id, headers, trace, metrics and log of every request. */
function envelope(
  deps: AppDeps,
  isForeign: (c: AppContext) => boolean,
  sharedHeaders: HeadersOf,
  refuse: Refuse,
): MiddlewareHandler<AppEnv> {
  const log = createRequestLog(deps.config, deps.logger);
  const record = (c: AppContext, ms: number): void => {
    const { method } = c.req;
    const { status } = c.res;
    deps.metrics.observeRequest({ method, route: routeOf(c), status, seconds: ms / 1_000 });
    log(c, ms);
  };
  const begin = (c: AppContext): Span | undefined => {
    const given = c.req.header('x-request-id');
    const requestId = given !== undefined && REQUEST_ID.test(given) ? given : randomUUID();
    c.set('requestId', requestId);
    const caller = readTraceparent(c.req.header('traceparent'));
    const span = deps.tracing?.begin(caller);
    const trace = span?.context ?? (caller === null ? null : childOf(caller));
    c.set('trace', trace);
    c.set('keyId', null);
    c.set('foreignPage', isForeign(c));
    c.set('isAdmin', deps.apiKeys === null);
    const headers: Record<string, string> = { ...sharedHeaders(c), 'x-request-id': requestId };
    if (trace !== null) headers.traceparent = traceparentOf(trace);
    c.set('baseHeaders', headers);
    return span;
  };
  return async (c, next) => {
    const start = performance.now();
    const span = begin(c);
    const refused = await refuse(c);
    if (refused === null) await next();
    else c.res = refused;
    const ms = performance.now() - start;
    // The answer is sent before: its client does not wait for the record.
    process.nextTick(() => {
      record(c, ms);
      span?.end(`${c.req.method} ${routeOf(c)}`, spanFacts(c), c.res.status >= 500);
    });
  };
}

/** Host rule, preflight, pages of other origins, authentication. */
function createRefuse(
  app: OpenAPIHono<AppEnv>,
  apiKeys: ApiKeys | null,
  access: BrowserAccess,
  hide: HideFolders,
  checksKey: (path: string) => boolean,
): Refuse {
  const allowed = (c: AppContext, method: string) =>
    !c.get('foreignPage') || access.foreignAllowed(pageAccessAt(app, method, c.req.path));
  const forbidden = (c: AppContext, detail: string) =>
    replyProblem(c, new LatticeError('forbidden', detail), hide);
  return async (c) => {
    // Workers present their own token and use the name by which the cluster knows this machine.
    if (c.req.path === WORKER_PATH) return null;
    if (!access.hostAllowed(c.req.header('host'))) return forbidden(c, UNKNOWN_HOST);
    if (preflightMethod(c) !== undefined) {
      const methods = methodsOf(app, c.req.path).filter((method) => allowed(c, method));
      const requested = c.req.header('access-control-request-headers');
      const headers = access.preflightHeaders(c.get('baseHeaders'), methods, requested);
      return replyRaw(c, 204, null, headers);
    }
    if (!allowed(c, c.req.method)) return forbidden(c, FOREIGN_PAGE);
    if (apiKeys === null || isOpenAt(app, c.req.path) || checksKey(c.req.path)) return null;
    let keyId: string | null;
    try {
      keyId = await presentedOwner(c, apiKeys);
    } catch (thrown) {
      return replyProblem(c, thrown, hide);
    }
    if (keyId === null) {
      const detail = 'Send a key as Authorization: Bearer KEY or X-API-Key: KEY.';
      return replyProblem(c, new LatticeError('unauthorized', detail), hide);
    }
    c.set('keyId', keyId);
    c.set('isAdmin', apiKeys.isAdmin(keyId));
    return null;
  };
}

const routeOf = (c: AppContext): string => c.get('route') ?? 'unmatched';

/** By the names of OpenTelemetry's conventions where they have one. */
function spanFacts(c: AppContext): SpanFacts {
  return {
    'http.request.method': c.req.method,
    'http.route': c.get('route'),
    'http.response.status_code': c.res.status,
    'error.type': c.get('errorCode'),
    'lattice.request_id': c.get('requestId'),
    'lattice.model': c.get('modelName'),
    'lattice.job_id': c.get('jobId'),
  };
}

/** The method that a page asks for; undefined for a request that asks for none. */
function preflightMethod(c: AppContext): string | undefined {
  return c.req.method === 'OPTIONS' ? c.req.header('access-control-request-method') : undefined;
}

function pageOf(c: AppContext): Page {
  return {
    origin: c.req.header('origin'),
    host: c.req.header('host'),
    site: c.req.header('sec-fetch-site'),
  };
}
