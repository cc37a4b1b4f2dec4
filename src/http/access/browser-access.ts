/** What browsers may do: cross-origin reads, cross-site sockets, forms and pictures, foreign Host headers. */
import { isLoopback, type Config } from '../../settings/config.js';

const METHODS = 'GET, POST, PUT, DELETE, OPTIONS';
const REQUEST_HEADERS = 'authorization, content-type, idempotency-key, x-api-key, x-request-id';
const EXPOSED_HEADERS =
  'location, retry-after, server-timing, x-request-id, idempotency-replayed, x-lattice-cluster-python, ' +
  'x-lattice-cluster-namespace, content-disposition, x-lattice-failed-images, x-lattice-pending-images';

/** These routes show people's pictures: to pages of this service and of listed origins only, also in development. */
const PICTURES = /^\/v1\/(?:images(?:\/|$)|jobs\/[^/]+\/drawn$)/;

/** What a browser sends about the page that makes a request; programs do not send it. */
export interface Page {
  origin: string | undefined;
  /** Host of the request. */
  host: string | undefined;
  /** `Sec-Fetch-Site`. Browsers send it to https and to the own machine only. */
  site: string | undefined;
}

/** Names of this machine; the last is this machine as seen from a container. */
const OWN_NAMES = ['localhost', '127.0.0.1', '[::1]', 'host.docker.internal'];

/**
 * Development: any origin. Production: the listed origins. In both, on a loopback address, only the machine's own names
 * and those of the listed origins as Host: a proxy on this machine may pass on its own.
 */
export class BrowserAccess {
  readonly #open: boolean;
  readonly #listed: ReadonlySet<string>;
  /** Null: any. */
  readonly #hosts: ReadonlySet<string> | null;

  constructor({ env, host, corsOrigins }: Pick<Config, 'env' | 'host' | 'corsOrigins'>) {
    this.#open = env === 'development';
    this.#listed = new Set(corsOrigins);
    const hosts = [...OWN_NAMES, host, ...corsOrigins.map((origin) => new URL(origin).hostname)];
    this.#hosts = isLoopback(host) ? new Set(hosts) : null;
  }

  /** CORS headers of an answer of the route at `path` to a page from `origin`. Credentials are never allowed. */
  corsHeaders(path: string, origin: string | undefined): Record<string, string> {
    const exposed = { 'access-control-expose-headers': EXPOSED_HEADERS };
    if (this.#open && !PICTURES.test(path)) {
      return { 'access-control-allow-origin': '*', ...exposed };
    }
    if (origin === undefined || !this.#listed.has(origin)) return { vary: 'origin' };
    return { 'access-control-allow-origin': origin, ...exposed, vary: 'origin' };
  }

  /** Headers of the answer to a preflight. An allowed page may send every header that it `requested`. */
  preflightHeaders(
    path: string,
    origin: string | undefined,
    requested: string | undefined,
  ): Record<string, string> {
    const headers = this.corsHeaders(path, origin);
    if (headers['access-control-allow-origin'] === undefined) return headers;
    return {
      ...headers,
      'access-control-allow-methods': METHODS,
      'access-control-allow-headers': requested ?? REQUEST_HEADERS,
      'access-control-max-age': '600',
    };
  }

  /** May a page from `origin` open a socket or send a form? Browsers do both to any site without a preflight. */
  originAllowed(origin: string | undefined, host: string | undefined): boolean {
    if (this.#open || origin === undefined) return true;
    return this.#listed.has(origin) || isOwn(origin, host);
  }

  /** May this page make any request to the route at `path`? */
  pageAllowed(path: string, { origin, host, site }: Page): boolean {
    if (!PICTURES.test(path)) return true;
    if (origin !== undefined && this.#listed.has(origin)) return true;
    if (site !== undefined) return site === 'same-origin' || site === 'none';
    return origin === undefined || isOwn(origin, host);
  }

  /**
   * May a request name this host? A page of a foreign name that resolves to this machine (DNS rebinding) has the same
   * origin as the service: only its Host tells. Every browser sends one: a request without is an HTTP/1.0 probe.
   */
  hostAllowed(host: string | undefined): boolean {
    if (this.#hosts === null || host === undefined) return true;
    // [::1]:8000 is [::1].
    return this.#hosts.has(host.replace(/:\d+$/, '').toLowerCase());
  }
}

function isOwn(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).host === host;
}
