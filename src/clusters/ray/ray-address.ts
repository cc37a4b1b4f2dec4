/** `LATTICE_RAY_ADDRESS`: where the client server of a Ray head listens. */
import { isIPv6 } from 'node:net';
import { ConfigError } from '../../settings/config.js';

const DEFAULT_PORT = 10001;

/** Ports of a Ray head that people take for the client server's. */
const OTHER_PORTS = new Map([
  [6379, "the cluster's internal store"],
  [8265, "the cluster's dashboard"],
]);

export interface RayAddress {
  /** The host, without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
  /** `ray://HOST:PORT`, for people. */
  readonly text: string;
}

/** Throws a `ConfigError` of one sentence for anything but `ray://HOST` and `ray://HOST:PORT`. */
export function parseRayAddress(given: string): RayAddress {
  const match = /^ray:\/\/(\[[^\][]*\]|[^\s:/?#@[\]\\]+)(?::(\d{1,5}))?$/.exec(given.trim());
  if (match === null) throw refusal(given, reasonOf(given.trim()));
  const [, authority = '', digits] = match;
  const host = authority.startsWith('[') ? authority.slice(1, -1) : authority;
  if (authority.startsWith('[') && !isIPv6(host)) {
    throw refusal(given, 'what stands in the brackets is not an IPv6 address');
  }
  const port = digits === undefined ? DEFAULT_PORT : Number(digits);
  if (port < 1 || port > 65_535) throw refusal(given, 'a port lies between 1 and 65535');
  const other = OTHER_PORTS.get(port);
  if (other !== undefined) throw refusal(given, `port ${port} is ${other}`);
  return { host, port, text: `ray://${authority}:${port}` };
}

function reasonOf(given: string): string {
  for (const [port, what] of OTHER_PORTS) {
    if (new RegExp(`:${port}(?!\\d)`).test(given)) return `port ${port} is ${what}`;
  }
  if (!given.startsWith('ray://')) return 'it does not begin with ray://';
  const rest = given.slice('ray://'.length);
  if (/^(:\d*)?(\/|$)/.test(rest)) return 'the host is missing';
  if (isIPv6(rest)) return 'an IPv6 address stands in brackets';
  if (rest.includes('/')) return 'a path has no meaning here';
  return 'it is not a host and a port';
}

function refusal(given: string, reason: string): ConfigError {
  return new ConfigError(
    `LATTICE_RAY_ADDRESS=${given} cannot be used, because ${reason}: ` +
      `name the client server of the Ray head, ray://HOST:${DEFAULT_PORT}.`,
  );
}
