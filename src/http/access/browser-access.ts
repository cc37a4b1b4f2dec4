/** Rules for browsers: cross-origin reads, cross-site sockets, forms and pictures, foreign Host headers. */
import { environmentName, isLoopback, type Config } from '../../settings/config.js';

const REQUEST_HEADERS = 'authorization, content-type, idempotency-key, x-api-key, x-request-id';
const EXPOSED_HEADERS =
  'location, retry-after, server-timing, x-request-id, idempotency-replayed, x-lattice-cluster-python, ' +
  'x-lattice-cluster-namespace, content-disposition, x-lattice-failed-images, x-lattice-pending-images';

/**
 * Access of pages of other origins to a route: they may read its answers; detect with it; or nothing, because it shows
 * pictures or changes what lasts. Production lets them read at most, and the browser keeps the answer from them.
 */
export type PageAccess = 'reads' | 'detects' | 'own';

/** The callers that may do what foreign pages may not, in words for messages. */
export const NOT_FOREIGN =
  'programs, pages of this service, and pages that fetch with CORS from an origin in ' +
  environmentName('corsOrigins');

/** The headers of a browser on the page that makes a request; programs do not send them. */
export interface Page {
  origin: string | undefined;
  /** Host of the request. */
  host: string | undefined;
  /** `Sec-Fetch-Site`. Browsers send it to https and to the own machine only. */
  site: string | undefined;
}

/** Answers of `own` routes may be kept by a browser, for the page and the key that fetched them. */
const VARY: Record<PageAccess, string> = {
  reads: 'origin',
  detects: 'origin',
  own: 'origin, sec-fetch-site, authorization, x-api-key',
};

/** Names of this machine; the last is this machine as seen from a container. */
const OWN_NAMES = ['localhost', '127.0.0.1', '[::1]', 'host.docker.internal'];

/**
 * Pages of the service and of the listed origins may do all that programs may. In development pages of any other origin
 * may do what a route lets them do, in production none. In both, on a loopback address, only the machine's own names
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

  /** Headers of a route's answer to a page from `origin`. Credentials are never allowed. */
  headers(access: PageAccess, origin: string | undefined): Record<string, string> {
    const exposed = { 'access-control-expose-headers': EXPOSED_HEADERS };
    if (this.#open && access !== 'own') {
      return {
        'cross-origin-resource-policy': 'cross-origin',
        'access-control-allow-origin': '*',
        ...exposed,
      };
    }
    const closed = { 'cross-origin-resource-policy': 'same-origin', vary: VARY[access] };
    if (origin === undefined || !this.#listed.has(origin)) return closed;
    return { ...closed, 'access-control-allow-origin': origin, ...exposed };
  }

  /**
   * Headers that an answer to a preflight adds to `headers`, which have an origin only where it is allowed. An allowed
   * page may send every header that it `requested`.
   */
  preflightHeaders(
    headers: Record<string, string>,
    methods: readonly string[],
    requested: string | undefined,
  ): Record<string, string> {
    if (headers['access-control-allow-origin'] === undefined) return {};
    return {
      'access-control-allow-methods': methods.join(', '),
      'access-control-allow-headers': requested ?? REQUEST_HEADERS,
      'access-control-max-age': '600',
    };
  }

  /** True for a web page whose origin is neither this service nor in the list of allowed origins. */
  isForeign({ origin, host, site }: Page): boolean {
    if (origin !== undefined && (this.#listed.has(origin) || isOwn(origin, host))) return false;
    return site === undefined ? origin !== undefined : site !== 'same-origin' && site !== 'none';
  }

  /**
   * May a foreign page make a request to a route? Browsers send forms and open sockets to any site without a preflight,
   * so that the answer alone does not keep a page from it.
   */
  foreignAllowed(access: PageAccess): boolean {
    return access === 'reads' || (this.#open && access === 'detects');
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
