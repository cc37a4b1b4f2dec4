/** `lattice webhook`: a receiver as a process of its own, and the check of saved messages. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { composeMessage, createSigner } from '../../src/webhooks/webhook-message.js';
import { eventually } from '../support/eventually.js';
import { PROJECT_ROOT } from '../support/service-process.js';
import { run } from './run.js';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const OTHER = `whsec_${randomBytes(32).toString('base64')}`;
const RECORD = {
  job_id: 'job_1',
  status: 'completed',
  failed_images: 2,
  result: { total_count: 7 },
};

const message = (secrets = SECRET, sentAt = new Date()) =>
  composeMessage(
    {
      deliveryId: 'msg_1',
      jobId: 'job_1',
      url: '',
      host: '',
      attempt: 0,
      createdAt: 0,
      news: null,
    },
    { type: 'job.completed', json: JSON.stringify(RECORD), origin: { requestId: 'order-4711' } },
    sentAt,
    createSigner(secrets),
  );

describe('listen', () => {
  const listeners: { kill: () => void }[] = [];
  afterAll(() => {
    for (const each of listeners) each.kill();
  });

  async function listening(...args: string[]) {
    const command = ['dist/cli/lattice.js', 'webhook', 'listen', '--port', '0', ...args];
    const child = spawn(process.execPath, command, {
      cwd: PROJECT_ROOT,
      env: { ...process.env, LATTICE_WEBHOOK_SECRET: SECRET },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    listeners.push({ kill: () => child.kill('SIGKILL') });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const exited = once(child, 'exit').then(([code]) => code as number | null);
    const url = await eventually(() => {
      const found = /Listening on (http:\/\/127\.0\.0\.1:\d+\/)/.exec(err)?.[1];
      if (found === undefined) throw new Error(`It does not listen: ${err}`);
      return found;
    });
    const send = async ({ body, headers }: ReturnType<typeof message>) =>
      (await fetch(url, { method: 'POST', body, headers: withoutLength(headers) })).status;
    return { child, exited, send, url, out: () => out };
  }

  test('prints what arrives, and answers 401 to what is not genuine', async () => {
    const { child, exited, send, url, out } = await listening();
    const genuine = message();
    expect(await send(genuine)).toBe(200);
    expect(await send(message(`${OTHER} ${SECRET}`))).toBe(200);
    expect(await send(message(OTHER))).toBe(401);
    expect(await send(message(''))).toBe(401);
    expect(await send(message(SECRET, new Date(Date.now() - 400_000)))).toBe(401);
    expect(await send({ ...genuine, body: 'hello \u001b[2J' })).toBe(401);
    expect((await fetch(url)).status).toBe(405);
    expect(await send({ ...genuine, body: 'x'.repeat(3_000_000) }).catch(() => 413)).toBe(413);
    await eventually(() => {
      expect(out().trimEnd().split('\n')).toHaveLength(12);
    });
    const lines = out().trimEnd().split('\n');
    expect(lines[0]).toMatch(/^20\S+Z {2}200 {2}job\.completed {2}msg_1 {2}signature genuine$/);
    expect(lines[1]).toBe('  job_1 completed, 7 box(es), 2 failed image(s), request order-4711');
    expect(lines[2]).toMatch(/signature genuine$/);
    expect(lines[4]).toMatch(/ {2}401 {2}.* refused: its signature is of another secret/);
    expect(lines[6]).toMatch(/refused: it is not signed/);
    expect(lines[8]).toMatch(/refused: genuine, but sent 40\d s ago/);
    expect(lines[10]).toMatch(/no event of this service {2}msg_1 {2}signature refused/);
    expect(lines[11]).toBe(String.raw`  hello \u001b[2J`);
    child.kill('SIGINT');
    expect(await exited).toBe(130);
  });

  test('--json prints headers and body, as verify reads them', async () => {
    const { child, send, out } = await listening('--json');
    const sent = message();
    expect(await send(sent)).toBe(200);
    await eventually(() => {
      expect(out()).toMatch(/\n$/);
    });
    const record = JSON.parse(out()) as { headers: Record<string, string>; body: string };
    expect(record).toMatchObject({ status: 200, signature: 'genuine', body: sent.body });
    expect(record.headers['webhook-id']).toBe('msg_1');
    child.kill('SIGINT');
  });

  test('says what to do about a port in use, and a secret that is none', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    expect(await run('webhook', 'listen', '--port', String(port))).toMatchObject({
      code: 1,
      err: expect.stringMatching(`Port ${port} of 127.0.0.1 is in use: --port takes another one.`),
    });
    taken.close();
    const wrong = await run('webhook', 'listen', '--secret', 'whsec_short');
    expect(wrong).toMatchObject({ code: 2, err: expect.stringMatching(/24 to 64 random bytes/) });
    expect(wrong.err).not.toContain('short');
  });
});

describe('verify', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'lattice-webhook-'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  function saved({ body, headers }: ReturnType<typeof message>, asJson = false): string[] {
    const files = [join(folder, 'body.json'), join(folder, 'headers.txt')] as const;
    const lines = Object.entries(headers).map(([name, value]) => `${name.toUpperCase()}: ${value}`);
    writeFileSync(files[0], body);
    writeFileSync(
      files[1],
      asJson ? JSON.stringify(headers) : ['POST / HTTP/1.1', ...lines].join('\r\n'),
    );
    return [...files];
  }
  const verify = (files: string[], ...more: string[]) =>
    run('webhook', 'verify', ...files, '--secret', SECRET, ...more);

  test.each([false, true])('a genuine message passes (headers as JSON: %s)', async (asJson) => {
    expect(await verify(saved(message(), asJson))).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Genuine: msg_1, sent 20\S+Z\.\n$/),
    });
  });

  test('an old one passes with a word on its age', async () => {
    const { code, out } = await verify(saved(message(SECRET, new Date(1_700_000_000_000))));
    expect(code).toBe(0);
    expect(out).toMatch(/sent 2023-11-14T22:13:20.000Z\.\nA receiver refuses it by now/);
  });

  test('what is not genuine is told with its reason and ends 1', async () => {
    const changed = message();
    const cases: [ReturnType<typeof message>, RegExp][] = [
      [message(OTHER), /another secret/],
      [{ ...changed, body: changed.body.replace('job_1', 'job_2') }, /another body/],
      [message(''), /not signed/],
      [{ ...changed, headers: { ...changed.headers, 'webhook-id': '' } }, /no header webhook-id/],
      [{ ...changed, headers: { ...changed.headers, 'webhook-timestamp': 'now' } }, /no Unix time/],
    ];
    for (const [each, reason] of cases) {
      const { code, out } = await verify(saved(each));
      expect(code).toBe(1);
      expect(out).toMatch(/^Not genuine: /);
      expect(out).toMatch(reason);
    }
  });

  test('a missing file, a folder and a missing secret are usage errors', async () => {
    const [body = '', headers = ''] = saved(message());
    expect(await verify([join(folder, 'none'), headers])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/There is no file .*none\./),
    });
    expect(await verify([folder, headers])).toMatchObject({ code: 2 });
    expect(await run('webhook', 'verify', body, headers)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/LATTICE_WEBHOOK_SECRET, or with --secret/),
    });
  });
});

/** `fetch` sets the length itself. */
function withoutLength(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'content-length'));
}
