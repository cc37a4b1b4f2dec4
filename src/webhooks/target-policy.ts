/**
 * Which addresses a webhook may be sent to. Checked at every attempt, on the address that is connected to;
 * a URL that contains an address is also checked when it is submitted.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { ConfigError, environmentName, type Config } from '../settings/config.js';

/** Private networks: allowed in development, in production only where `webhookAllow` lists them. */
const PRIVATE_RANGES = new Set(['private', 'loopback', 'uniqueLocal', 'carrierGradeNat']);

/** Cloud metadata services outside the link-local range; they return credentials, so no setting allows them. */
const METADATA_ADDRESSES = [
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd20:ce::254',
].map((address) => ipaddr.parse(address).toNormalizedString());

/**
 * The assigned network of IPv6. An address outside is not assigned, or holds an IPv4 address: `::7f00:1` is 127.0.0.1
 * (RFC 4291, 2.5.5.1).
 */
const PUBLIC_NETWORK = ipaddr.IPv6.parseCIDR('2000::/3');

/** Private ranges depend on `env`; the rest is the same in both modes. */
export interface TargetPolicy {
  /** Why a delivery to `host` may not connect to `address`; null when it may. */
  refusal(host: string, address: string): string | null;
}

/** Throws `ConfigError` when an entry of `webhookAllow` is neither a host, an address nor a CIDR. */
export function createTargetPolicy(config: Pick<Config, 'env' | 'webhookAllow'>): TargetPolicy {
  const hosts = new Set<string>();
  const networks: [ipaddr.IPv4 | ipaddr.IPv6, number][] = [];
  for (const entry of config.webhookAllow) {
    const network = parseNetwork(entry);
    if (network !== null) networks.push(network);
    else hosts.add(parseHost(entry));
  }
  const listed = (host: string, address: ipaddr.IPv4 | ipaddr.IPv6) =>
    hosts.has(host.toLowerCase()) ||
    networks.some(
      ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
    );

  return {
    refusal(host, text) {
      if (!ipaddr.isValid(text)) return `${text} is not an IP address`;
      // An IPv4-mapped address (::ffff:10.0.0.1) reaches the IPv4 host, so that address is checked.
      const address = ipaddr.process(text);
      const range = address.range();
      if (range === 'linkLocal' || METADATA_ADDRESSES.includes(address.toNormalizedString())) {
        return `${text} is a link-local or metadata address, which is never allowed`;
      }
      if (range === 'unicast' && isPublic(address)) return null;
      if (range === 'unicast') return `${text} is outside 2000::/3, the public addresses of IPv6`;
      if (!PRIVATE_RANGES.has(range)) return `${text} is in the range '${range}'`;
      if (config.env === 'development' || listed(host, address)) return null;
      return `${text} is in the range '${range}'; ${environmentName('webhookAllow')} can allow it`;
    },
  };
}

const isPublic = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  address.kind() === 'ipv4' || address.match(PUBLIC_NETWORK);

/** Why `url` can never be a webhook target; null when only its addresses remain to be checked. */
export function targetUrlRefusal(url: string): string | null {
  if (!URL.canParse(url)) return 'not an absolute URL';
  const { protocol, username, password } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return 'must be an http or https URL';
  if (username !== '' || password !== '') return 'must not carry a user name or password';
  return null;
}

/** Why nothing will ever be sent to `url`; null when it is allowed, or when the addresses of its name decide. */
export function targetRefusal(url: string, policy: TargetPolicy): string | null {
  const refusal = targetUrlRefusal(url);
  if (refusal !== null) return refusal;
  const host = hostOf(new URL(url));
  return isIP(host) === 0 ? null : policy.refusal(host, host);
}

/** A name, or an address without the brackets of IPv6. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function parseNetwork(entry: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | null {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  // Only four-part IPv4: "10.1" would be read as 10.0.0.1, which is hardly intended.
  if (ipaddr.IPv4.isValidFourPartDecimal(entry) || ipaddr.IPv6.isValid(entry)) {
    const address = ipaddr.process(entry);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  }
  return null;
}

function parseHost(entry: string): string {
  if (/[^0-9.]/.test(entry) && /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/i.test(entry))
    return entry.toLowerCase();
  throw new ConfigError(
    `${environmentName('webhookAllow')}: "${entry}" is neither a host name, an IP address nor a CIDR.`,
  );
}
