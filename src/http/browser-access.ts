/** What browsers may do: cross-origin reads, cross-site sockets, foreign Host headers. */
import type { Config } from '../config.js';

const METHODS = 'GET, POST, DELETE, OPTIONS';
const REQUEST_HEADERS = 'authorization, content-type, idempotency-key, x-api-key, x-request-id';
const EXPOSED_HEADERS =
  'location, retry-after, server-timing, x-request-id, idempotency-replayed, x-lattice-cluster-python';

export interface BrowserAccess {
  /** CORS headers of an answer to a page from `origin`. Credentials are never allowed. */
  corsHeaders(origin: string | undefined): Record<string, string>;
  /** Headers of the answer to a preflight. A page that may ask may send any header: `asked` is what it means to send. */
  preflightHeaders(origin: string | undefined, asked: string | undefined): Record<string, string>;
  /** May a page from `origin` open a socket? Browsers do not apply the same-origin rule to sockets. */
  socketAllowed(origin: string | undefined, host: string | undefined): boolean;
  /** May a request name this host? Refusing foreign names on loopback stops DNS rebinding. */
  hostAllowed(host: string | undefined): boolean;
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]', '::1']);

/**
 * Development: any origin, any host. Production: the listed origins; on a loopback address only its own names
 * and those of the listed origins as Host: a proxy on this machine may pass on its own.
 */
export function createBrowserAccess(
  config: Pick<Config, 'env' | 'host' | 'corsOrigins'>,
): BrowserAccess {
  const open = config.env === 'development';
  const listed = new Set(config.corsOrigins);
  const checkHost = !open && LOOPBACK.has(config.host);
  const hosts = new Set([...LOOPBACK, config.host, ...config.corsOrigins.map(hostOfOrigin)]);
  const corsHeaders = (origin: string | undefined): Record<string, string> => {
    if (open) {
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
    preflightHeaders: (origin, asked) => {
      const headers = corsHeaders(origin);
      if (headers['access-control-allow-origin'] === undefined) return headers;
      return {
        ...headers,
        'access-control-allow-methods': METHODS,
        'access-control-allow-headers': asked ?? REQUEST_HEADERS,
        'access-control-max-age': '600',
      };
    },
    socketAllowed: (origin, host) =>
      open ||
      origin === undefined ||
      listed.has(origin) ||
      (URL.canParse(origin) && new URL(origin).host === host),
    // Every browser sends a Host; without one it is a probe that speaks HTTP/1.0.
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
