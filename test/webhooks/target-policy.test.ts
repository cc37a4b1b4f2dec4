import { describe, expect, test } from 'vitest';
import { postWebhook, type Resolve } from '../../src/webhooks/post-webhook.js';
import { createTargetPolicy, targetUrlRefusal } from '../../src/webhooks/target-policy.js';
import { answerWith, startReceiver } from './receiver.js';

const noLookup: Resolve = (host) => Promise.reject(new Error(`looked up ${host}`));

/** Attempts a POST and gives the error text, or the status. */
async function attempt(
  url: string,
  env: 'development' | 'production',
  allow: string[] = [],
  resolve: Resolve = noLookup,
): Promise<number | { error: string; permanent: boolean }> {
  const outcome = await postWebhook(
    url,
    { body: '{}', headers: { 'content-length': '2' } },
    {
      policy: createTargetPolicy({ env, webhookAllow: allow }),
      resolve,
      timeoutMs: 2_000,
      stop: new AbortController().signal,
    },
  );
  if (outcome === null) throw new Error('stopped');
  if (outcome.kind === 'answered') return outcome.status;
  return { error: outcome.error, permanent: outcome.permanent };
}

const refused = { error: expect.stringMatching(/^Target refused/), permanent: true };

/** Every spelling of an address that is not public. */
const ZOO = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '127.0.0.1.',
  '１２７.0.0.1',
  '0.0.0.0',
  '0',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '192.0.2.1',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:a9fe:a9fe]',
  '[::ffff:0:127.0.0.1]',
  '[::127.0.0.1]',
  '[::a00:1]',
  '[::a9fe:a9fe]',
  '[64:ff9b:1::a00:1]',
  '[4000::1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[2001::1]',
  '[fe80::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[ff02::1]',
];

const NEVER = [
  '169.254.169.254',
  '0xa9fea9fe',
  '[::ffff:169.254.169.254]',
  '[fe80::1]',
  '[fd00:ec2::254]',
  '100.100.100.200',
  '168.63.129.16',
];

describe('production', () => {
  test.each(ZOO)('refuses http://%s/', async (host) => {
    expect(await attempt(`http://${host}:9/`, 'production')).toEqual(refused);
    expect(await attempt(`https://${host}:9/`, 'production')).toEqual(refused);
  });

  test('checks the address of a name at every attempt', async () => {
    await using receiver = await startReceiver(answerWith(200));
    const url = `http://hook.example:${receiver.port}/`;
    const local: Resolve = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
    expect(await attempt(url, 'production', [], local)).toEqual({
      error:
        'Target refused: hook.example has neither a public address nor one that LATTICE_WEBHOOK_ALLOW allows',
      permanent: false,
    });
    expect(await attempt(url, 'production', ['hook.example'], local)).toBe(200);
    expect(await attempt(url, 'production', ['HOOK.example'], local)).toBe(200);
    expect(await attempt(url, 'production', ['127.0.0.0/8'], local)).toBe(200);
    expect(await attempt(url, 'production', ['other.example', '10.0.0.0/8', '::1'], local)).toEqual(
      {
        ...refused,
        permanent: false,
      },
    );
    expect(receiver.received).toHaveLength(3);
  });

  test('connects to the checked address although the name resolves to another one later', async () => {
    await using receiver = await startReceiver(answerWith(200));
    const answers = ['127.0.0.2', '127.0.0.1'];
    const rebinding: Resolve = () =>
      Promise.resolve([{ address: answers.shift() ?? '127.0.0.1', family: 4 }]);
    await attempt(`http://hook.example:${receiver.port}/`, 'production', ['127.0.0.2'], rebinding);
    expect(answers).toEqual(['127.0.0.1']);
    expect(receiver.received).toHaveLength(0);
  });

  test('of a name with public and private addresses only the allowed ones are used', async () => {
    await using receiver = await startReceiver(answerWith(200));
    const mixed: Resolve = () =>
      Promise.resolve([
        { address: '169.254.169.254', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ]);
    const url = `http://hook.example:${receiver.port}/`;
    expect(await attempt(url, 'production', ['hook.example'], mixed)).toBe(200);
  });

  test('a listed address may be written as IPv4 inside IPv6', () => {
    const policy = createTargetPolicy({
      env: 'production',
      webhookAllow: ['10.0.0.0/8', 'fd12::/16'],
    });
    expect(policy.refusal('h', '::ffff:10.1.2.3')).toBeNull();
    expect(policy.refusal('h', 'fd12::9')).toBeNull();
    expect(policy.refusal('h', 'fd13::9')).toMatch(/LATTICE_WEBHOOK_ALLOW/);
    expect(policy.refusal('h', '8.8.8.8')).toBeNull();
    expect(policy.refusal('h', '2606:4700::1')).toBeNull();
  });
});

test.each(NEVER)('no mode and no list opens http://%s/', async (host) => {
  expect(await attempt(`http://${host}/`, 'development')).toEqual(refused);
  const allow = ['0.0.0.0/0', '::/0', host.replace(/[[\]]/g, '')].filter(
    (entry) => !/^0x|::ffff/.test(entry),
  );
  expect(await attempt(`http://${host}/`, 'production', allow)).toEqual(refused);
});

test('development reaches the loopback address by number and by name', async () => {
  await using receiver = await startReceiver(answerWith(201));
  expect(await attempt(receiver.url, 'development')).toBe(201);
  expect(await attempt(`http://2130706433:${receiver.port}/`, 'development')).toBe(201);
  expect(await attempt(`http://[::ffff:127.0.0.1]:${receiver.port}/`, 'development')).toBe(201);
});

test('https speaks TLS to the checked address', async () => {
  await using receiver = await startReceiver(answerWith(200));
  const local: Resolve = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
  const result = await attempt(`https://hook.example:${receiver.port}/`, 'development', [], local);
  expect(result).toEqual({ error: expect.stringMatching(/SSL|TLS|EPROTO/i), permanent: false });
  expect(receiver.received).toHaveLength(0);
});

test.each([
  'ftp://a.example/',
  'file:///etc/passwd',
  'a.example',
  '',
  'http://user:key@a.example/',
])('%j is no webhook target', async (url) => {
  expect(targetUrlRefusal(url)).not.toBeNull();
  expect(await attempt(url, 'development')).toEqual(refused);
});

test.each(['10.0.0.0/99', '10.0', 'http://a.example', 'a b', '*.example'])(
  'the allow list entry %j is refused at start',
  (entry) => {
    expect(() => createTargetPolicy({ env: 'production', webhookAllow: [entry] })).toThrow(
      /LATTICE_WEBHOOK_ALLOW/,
    );
  },
);
