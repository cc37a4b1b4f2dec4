/** What browsers may do: cross-origin reads, cross-site sockets, forms and pictures, foreign Host headers. */
import { isLoopback, type Config } from '../settings/config.js';

const METHODS = 'GET, POST, DELETE, OPTIONS';
const REQUEST_HEADERS = 'authorization, content-type, idempotency-key, x-api-key, x-request-id';
const EXPOSED_HEADERS =
  'location, retry-after, server-timing, x-request-id, idempotency-replayed, x-lattice-cluster-python, ' +
  'content-disposition, x-lattice-failed-images';

/** These routes show people's pictures: to pages of this service and of listed origins only, also in development. */
const PICTURES = /^\/v1\/images(?:\/|$)/;

/** What a browser says about the page that makes a request; a program says none of it. */
export interface Page {
  origin: string | undefined;
  /** Host of the request. */
  host: string | undefined;
  /** `Sec-Fetch-Site`. Browsers send it to https and to the own machine only. */
  site: string | undefined;
}

export interface BrowserAccess {
  /** CORS headers of an answer of the route at `path` to a page from `origin`. Credentials are never allowed. */
  corsHeaders(path: string, origin: string | undefined): Record<string, string>;
  /** Headers of the answer to a preflight. An allowed page may send every header that it `requested`. */
  preflightHeaders(
    path: string,
    origin: string | undefined,
    requested: string | undefined,
  ): Record<string, string>;
  /**
   * May a page from `origin` open a socket or send a form? Browsers do both to any site without a preflight.
   */
  originAllowed(origin: string | undefined, host: string | undefined): boolean;
  /** May this page make any request to the route at `path`? */
  pageAllowed(path: string, page: Page): boolean;
  /**
   * May a request name this host? A page of a foreign name that resolves to this machine (DNS rebinding) has the same
   * origin as the service: only its Host tells.
   */
  hostAllowed(host: string | undefined): boolean;
}

/** Names of this machine; the last is this machine as seen from a container. */
const OWN_NAMES = ['localhost', '127.0.0.1', '[::1]', 'host.docker.internal'];

/**
 * Development: any origin. Production: the listed origins. In both, on a loopback address, only the machine's own names
 * and those of the listed origins as Host: a proxy on this machine may pass on its own.
 */
export function createBrowserAccess(
  config: Pick<Config, 'env' | 'host' | 'corsOrigins'>,
): BrowserAccess {
  const open = config.env === 'development';
  const listed = new Set(config.corsOrigins);
  const checkHost = isLoopback(config.host);
  const hosts = new Set([...OWN_NAMES, config.host, ...config.corsOrigins.map(hostOfOrigin)]);
  const isOwn = (origin: string, host: string | undefined) =>
    URL.canParse(origin) && new URL(origin).host === host;
  const corsHeaders = (path: string, origin: string | undefined): Record<string, string> => {
    if (open && !PICTURES.test(path)) {
      return {
        'access-control-allow-origin': '*',
        'access-control-expose-headers': EXPOSED_HEADERS,
      };
    }
    if (origin === undefined || !listed.has(origin)) return { vary: 'origin' };
    return {
      'access-control-allow-origin': origin,
      'access-control-expose-headers': EXPOSED_HEADERS,
      vary: 'origin',
    };
  };
  return {
    corsHeaders,
    preflightHeaders: (path, origin, requested) => {
      const headers = corsHeaders(path, origin);
      if (headers['access-control-allow-origin'] === undefined) return headers;
      return {
        ...headers,
        'access-control-allow-methods': METHODS,
        'access-control-allow-headers': requested ?? REQUEST_HEADERS,
        'access-control-max-age': '600',
      };
    },
    originAllowed: (origin, host) =>
      open || origin === undefined || listed.has(origin) || isOwn(origin, host),
    pageAllowed: (path, { origin, host, site }) => {
      if (!PICTURES.test(path)) return true;
      if (origin !== undefined && listed.has(origin)) return true;
      if (site !== undefined) return site === 'same-origin' || site === 'none';
      return origin === undefined || isOwn(origin, host);
    },
    // Every browser sends a Host: a request without one is an HTTP/1.0 probe.
    hostAllowed: (host) => !checkHost || host === undefined || hosts.has(hostName(host)),
  };
}

/** `[::1]:8000` -> `[::1]`, `localhost:8000` -> `localhost`. */
function hostName(host: string): string {
  return host.replace(/:\d+$/, '').toLowerCase();
}

function hostOfOrigin(origin: string): string {
  return new URL(origin).hostname;
}
