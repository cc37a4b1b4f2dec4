/** Registers a route for requests, for the OpenAPI document and for the answer to a wrong method. */
import type { OpenAPIHono, RouteConfig } from '@hono/zod-openapi';
import type { AppContext, AppEnv } from './app-env.js';
import { problemResponses } from './problem.schema.js';

export type RouteHandler = (c: AppContext) => Response | Promise<Response>;

interface KnownRoute {
  method: string;
  path: string;
  pattern: RegExp;
}

export class RouteTable {
  readonly app: OpenAPIHono<AppEnv>;
  readonly #routes: KnownRoute[] = [];
  /** Paths without a parameter. They take precedence over a pattern that also matches, as in OpenAPI. */
  readonly #fixedPaths = new Set<string>();

  constructor(app: OpenAPIHono<AppEnv>) {
    this.app = app;
  }

  /**
   * Handlers validate requests themselves (`readJson`, `validate`): the library's validator parses the body before
   * its size is checked and answers 400 instead of 422.
   */
  add(route: RouteConfig, handler: RouteHandler): void {
    const method = route.method.toUpperCase();
    const responses = { ...problemResponses('forbidden'), ...route.responses };
    this.app.openAPIRegistry.registerPath({ ...route, responses });
    this.#routes.push({
      method,
      path: route.path,
      pattern: new RegExp(`^${route.path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
    });
    const isFixed = !route.path.includes('{');
    if (isFixed) this.#fixedPaths.add(route.path);
    this.app.on(method, route.path.replace(/\{(\w+)\}/g, ':$1'), async (c) => {
      if (!isFixed && this.#fixedPaths.has(c.req.path)) return c.notFound();
      c.set('route', route.path);
      try {
        return await handler(c);
      } catch (thrown) {
        // Hono passes only instances of Error to its error handler.
        throw thrown instanceof Error ? thrown : new Error('Not an Error', { cause: thrown });
      }
    });
  }

  /** Methods of this path: those of its routes, and HEAD, for which Hono runs the route of GET. */
  methodsOf(path: string): string[] {
    return this.#routes
      .filter((route) =>
        this.#fixedPaths.has(path) ? route.path === path : route.pattern.test(path),
      )
      .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  }

  list(): { method: string; path: string }[] {
    return this.#routes.map(({ method, path }) => ({ method, path }));
  }
}
