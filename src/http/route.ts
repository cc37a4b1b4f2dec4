/** A route: one call registers it for requests and for the OpenAPI document. */
import { z, type OpenAPIHono, type RouteConfig } from '@hono/zod-openapi';
import { ERROR_CODES, LatticeError, type ErrorCode } from '../api/errors.js';
import { PAGES_MARK } from '../api/schemas/own-pages.js';
import type { AppContext, AppEnv } from './app-env.js';
import { problemResponses } from './answer/problem-responses.js';
import type { PageAccess } from './access/browser-access.js';

/**
 * Handlers validate requests themselves (`readJson`, `validate`): the library's validator parses the body before its
 * size is checked and answers 400 instead of 422.
 */
export type RouteHandler = (c: AppContext) => Response | Promise<Response>;

export interface RouteSpec extends Omit<RouteConfig, 'responses'> {
  /** Answers by status. An answer to an error replaces the problem of its status. */
  answers: RouteConfig['responses'];
  /** Error codes in addition to those that follow from what the request has: a key, a JSON body, a query. */
  errors?: readonly ErrorCode[];
  /**
   * True: the route changes things that all keys share. Where a key of the file has the mark `admin`, only such keys
   * may call it.
   */
  forAdmin?: boolean;
  /** The last parameter of the path, where it takes the rest with its slashes. */
  slashesIn?: string;
  /**
   * Which pages may call the route. Absent: `pageAccessOf` decides, and never lets pages of other origins change
   * anything or see a picture.
   */
  pages?: PageAccess;
  /** Largest body in bytes. Absent: the settings decide, by whether it is a picture or JSON. */
  maxBodyBytes?: number;
}

const TEXT_TYPE = /^text\/|[/+](?:json|x-ndjson)$/;

export type AddRoute = (spec: RouteSpec, handler: RouteHandler) => void;

const FOR_ADMIN = 'Where keys of the key file have the mark `admin`, only those may call it.';

/** A picture or an archive in a body. */
export const binary = z.string().openapi({ format: 'binary' });

/** The answer of a route in JSON. */
export function json<T extends z.ZodType>(description: string, schema: T) {
  return { description, content: { 'application/json': { schema } } };
}

interface RouteRules {
  pages: PageAccess;
  /** True: the route needs no key. */
  isOpen: boolean;
  maxBodyBytes: number | undefined;
}

/** Rules of each route, by the handler under which the router has it. */
const rules = new WeakMap<object, RouteRules>();

export function createAddRoute(app: OpenAPIHono<AppEnv>): AddRoute {
  return (spec, handler) => {
    const {
      answers,
      errors = [],
      slashesIn,
      pages: givenPages,
      maxBodyBytes,
      forAdmin = false,
      ...config
    } = spec;
    const problems = problemResponses(errorsOfRoute({ answers, ...config }, errors));
    const responses = { ...problems, ...answers };
    const pages = givenPages ?? pageAccessOf({ answers, ...config });
    const { description = '' } = config;
    const said = forAdmin ? { description: `${description} ${FOR_ADMIN}` } : {};
    app.openAPIRegistry.registerPath({ ...config, ...said, responses, [PAGES_MARK]: pages });
    const hasParameter = config.path.includes('{');
    const pattern = config.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      name === slashesIn ? `:${name}{.+}` : `:${name}`,
    );
    const handle = async (c: AppContext): Promise<Response> => {
      if (hasParameter && isFixed(app, c.req.path)) return c.notFound();
      c.set('route', config.path);
      try {
        if (forAdmin) refuseOthers(c);
        return await handler(c);
      } catch (thrown) {
        // Hono passes only instances of Error to its error handler.
        throw thrown instanceof Error ? thrown : new Error('Not an Error', { cause: thrown });
      }
    };
    rules.set(handle, { pages, isOpen: config.security?.length === 0, maxBodyBytes });
    app.on(config.method.toUpperCase(), pattern, handle);
  };
}

function refuseOthers(c: AppContext): void {
  if (c.get('isAdmin')) return;
  const detail =
    'This changes models or aliases for all API keys and needs a key with the mark admin. Ask who keeps the key file.';
  throw new LatticeError('forbidden', detail);
}

/** An answer that is not text may be a picture. A route without a key gives nothing that belongs to the user. */
function pageAccessOf({ method, answers, security }: RouteSpec): PageAccess {
  if (method !== 'get' && method !== 'head') return 'own';
  if (security?.length === 0) return 'reads';
  const types = Object.values(answers).flatMap((answer) =>
    'content' in answer ? Object.keys(answer.content ?? {}) : [],
  );
  return types.every((type) => TEXT_TYPE.test(type)) ? 'reads' : 'own';
}

/** Access of foreign pages to the route of this method and path; where there is no route, they read the answer. */
export function pageAccessAt(app: OpenAPIHono<AppEnv>, method: string, path: string): PageAccess {
  const found = handlerAt(app, method === 'HEAD' ? 'GET' : method, path);
  return found === undefined ? 'reads' : (rules.get(found)?.pages ?? 'own');
}

/** Whether what lies at this path is read without a key. */
export function isOpenAt(app: OpenAPIHono<AppEnv>, path: string): boolean {
  const found = handlerAt(app, 'GET', path);
  return found !== undefined && rules.get(found)?.isOpen === true;
}

/** Most bytes of a body that the route of this method and path takes, where it says so. */
export function maxBodyBytesAt(
  app: OpenAPIHono<AppEnv>,
  method: string,
  path: string,
): number | undefined {
  const found = handlerAt(app, method, path);
  return found && rules.get(found)?.maxBodyBytes;
}

/** Methods of this path: those of its routes, and HEAD, for which Hono runs the route of GET. */
export function methodsOf(app: OpenAPIHono<AppEnv>, path: string): string[] {
  const methods = new Set(app.routes.map(({ method }) => method));
  methods.delete('ALL');
  return [...methods]
    .filter((method) => handlerAt(app, method, path) !== undefined)
    .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

/** Handlers by method and path, of paths without a parameter: the router takes longer to find one. */
const found = new WeakMap<OpenAPIHono<AppEnv>, Map<string, object>>();

function handlerAt(app: OpenAPIHono<AppEnv>, method: string, path: string): object | undefined {
  const known = found.get(app) ?? new Map<string, object>();
  found.set(app, known);
  const key = `${method} ${path}`;
  const fixed = known.get(key);
  if (fixed !== undefined) return fixed;
  const handler = searchHandler(app, method, path);
  if (handler !== undefined && isFixed(app, path)) known.set(key, handler);
  return handler;
}

function searchHandler(app: OpenAPIHono<AppEnv>, method: string, path: string): object | undefined {
  const fixed = isFixed(app, path);
  const match = app.router
    .match(method, path)[0]
    .find(([[, route]]) => route.method === method && (!fixed || route.path === path));
  return match?.[0][0];
}

/** A path without a parameter takes precedence over a pattern that also matches, as in OpenAPI. */
function isFixed({ routes }: OpenAPIHono<AppEnv>, path: string): boolean {
  return routes.some((route) => route.path === path);
}

/** `errors` and those that follow from what a request has, in the order of the table. */
function errorsOfRoute(
  { answers, request, security }: Pick<RouteSpec, 'answers' | 'request' | 'security'>,
  errors: readonly ErrorCode[],
): ErrorCode[] {
  const codes = new Set<ErrorCode>(['forbidden', 'internal_error', ...errors]);
  // A socket without a key is opened and then closed with a code, which a browser can read.
  const isSocket = answers[101] !== undefined;
  if (security?.length !== 0 && !isSocket) codes.add('unauthorized').add('quota_exceeded');
  const takesJson = request?.body?.content['application/json'] !== undefined;
  if (takesJson) {
    codes.add('bad_json').add('bad_request');
    codes.add('body_too_large').add('unsupported_media_type');
  }
  if (takesJson || request?.query !== undefined) codes.add('validation_failed');
  return ERROR_CODES.filter((code) => codes.has(code));
}
