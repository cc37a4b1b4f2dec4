/** Messages about a receiver that gives no answer. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectionFault } from '../../src/webhooks/connection-fault.js';
import { createResolver, postWebhook } from '../../src/webhooks/post-webhook.js';
import { createTargetPolicy } from '../../src/webhooks/target-policy.js';
import { whyLeftOut } from '../../scripts/system-packages.mjs';
import { answerWith, startReceiver } from './receiver.js';

const withoutOpenssl = whyLeftOut('openssl');
if (withoutOpenssl !== null) console.warn(withoutOpenssl);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-tls-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

async function post(url: string): Promise<string> {
  const outcome = await postWebhook(
    url,
    { body: '{}', headers: {} },
    {
      policy: createTargetPolicy({ env: 'development', webhookAllow: [] }),
      resolve: createResolver(),
      timeoutMs: 5_000,
      stop: new AbortController().signal,
    },
  );
  return outcome?.kind === 'unreachable' ? outcome.error : 'answered';
}

test.skipIf(withoutOpenssl !== null)('a certificate that nobody signed', async () => {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=127.0.0.1', '-days', '2', '-nodes'];
  const files = ['-newkey', 'rsa:2048', '-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', ...subject, ...files], { stdio: 'ignore' });
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  expect(await post(`https://127.0.0.1:${port}/hook`)).toBe(
    `The TLS certificate of 127.0.0.1:${port} is not trusted here (DEPTH_ZERO_SELF_SIGNED_CERT; see NODE_EXTRA_CA_CERTS)`,
  );
  await new Promise((resolve) => server.close(resolve));
});

test('https:// to a server of http://', async () => {
  await using receiver = await startReceiver(answerWith(200));
  const host = `127.0.0.1:${receiver.port}`;
  expect(await post(`https://${host}/`)).toBe(
    `${host} does not speak TLS: is it http:// and not https://?`,
  );
});

test.each([
  ['CERT_HAS_EXPIRED', 'The TLS certificate of h has expired (CERT_HAS_EXPIRED)'],
  ['CERT_NOT_YET_VALID', /is not valid yet: do the clocks agree\?/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /certificate of h is for another host name/],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /certificate of h is not trusted here/],
  ['ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', /^h refused the TLS handshake \(ERR_SSL_/],
  ['EPROTO', 'h refused the TLS handshake (EPROTO)'],
  ['HPE_INVALID_CONSTANT', 'h does not speak HTTP (HPE_INVALID_CONSTANT)'],
  ['ECONNREFUSED', '4097:error'],
  ['', '4097:error'],
])('%s', (code, text) => {
  const error = Object.assign(new Error('4097:error:0A000:SSL routines:ssl3.c:1605:'), { code });
  expect(connectionFault(error, 'https://h/')).toMatch(text);
});

test('what a receiver makes up is one short line', () => {
  expect(connectionFault(new Error(`a\n\n b${'x'.repeat(900)}`), 'h')).toMatch(/^a bx{295,297}$/);
  expect(connectionFault(Object.assign(new Error(''), { code: 'EX' }), 'h')).toBe('EX');
});
