/** The network that counts as one client where clients have no key. */
import ipaddr from 'ipaddr.js';

/** An IPv4 address, or the first 64 bits of an IPv6 one, of which a client may use every address. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const bytes = ipaddr.process(address).toByteArray();
  return bytes.slice(0, 8).join('.');
}
