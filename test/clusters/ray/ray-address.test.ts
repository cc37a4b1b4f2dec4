import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseRayAddress, type RayAddress } from '../../../src/clusters/ray/ray-address.js';
import { ConfigError } from '../../../src/settings/config.js';

const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?$/);
const name = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.'));
const host = fc.oneof(name, fc.ipV4(), fc.ipV6());
const otherServers = [6379, 8265];
const port = fc.integer({ min: 1, max: 65_535 }).filter((one) => !otherServers.includes(one));
const inUrl = (one: string): string => (one.includes(':') ? `[${one}]` : one);

test('host and port come out as they went in', () => {
  fc.assert(
    fc.property(host, port, (h, p) => {
      const text = `ray://${inUrl(h)}:${p}`;
      expect(parseRayAddress(text)).toEqual({ host: h, port: p, text });
    }),
  );
});

test('the port may be left out', () => {
  fc.assert(
    fc.property(host, (h) => {
      const full: RayAddress = { host: h, port: 10001, text: `ray://${inUrl(h)}:10001` };
      expect(parseRayAddress(`ray://${inUrl(h)}`)).toEqual(full);
    }),
  );
});

test('any text is an address or one sentence that names ray://HOST:10001', () => {
  const part = fc.constantFrom(
    'ray://',
    'http://',
    'head',
    ':',
    '10001',
    '6379',
    '/',
    '[',
    ']',
    '::1',
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(part).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, (given) => {
      try {
        const { host: h, port: p } = parseRayAddress(given);
        expect(h).not.toBe('');
        expect(otherServers).not.toContain(p);
        expect(given.trim()).toMatch(/^ray:\/\//);
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError);
        expect((error as Error).message).toContain('ray://HOST:10001.');
      }
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['head:10001', 'it does not begin with ray://'],
  ['http://head:10001', 'it does not begin with ray://'],
  ['auto', 'it does not begin with ray://'],
  ['ray://head:6379', "port 6379 is the cluster's internal store"],
  ['head:6379', "port 6379 is the cluster's internal store"],
  ['ray://head:8265', "port 8265 is the cluster's dashboard"],
  ['http://head:8265', "port 8265 is the cluster's dashboard"],
  ['ray://', 'the host is missing'],
  ['ray://:10001', 'the host is missing'],
  ['ray://head:10001/path', 'a path has no meaning here'],
  ['ray://head:10001/', 'a path has no meaning here'],
  ['ray://head:0', 'a port lies between 1 and 65535'],
  ['ray://head:65536', 'a port lies between 1 and 65535'],
  ['ray://head:', 'it is not a host and a port'],
  ['ray://::1', 'an IPv6 address stands in brackets'],
  ['ray://fe80::1', 'an IPv6 address stands in brackets'],
  ['ray://[head]:10001', 'what stands in the brackets is not an IPv6 address'],
  ['ray://user@head:10001', 'it is not a host and a port'],
])('%s is refused: %s', (given, reason) => {
  expect(() => parseRayAddress(given)).toThrow(
    `LATTICE_RAY_ADDRESS=${given} cannot be used, because ${reason}: ` +
      'name the client server of the Ray head, ray://HOST:10001.',
  );
});
