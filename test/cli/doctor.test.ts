import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { checkAccess, checkNode, type Finding } from '../../src/cli/doctor/checks.js';
import { run } from './run.js';

let dataDir: string;
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'lattice-doctor-'));
});
afterAll(() => {
  rmSync(dataDir, { recursive: true });
});

async function examine(...flags: string[]) {
  const args = ['doctor', '--json', '--data-dir', dataDir, '--port', '0', ...flags];
  const { out, code } = await run(...args);
  const report = JSON.parse(out) as { ok: boolean; findings: Finding[] };
  return {
    code,
    ...report,
    of: (name: string) => report.findings.find((each) => each.name === name)!,
  };
}

test('every point is checked, and each fault has a remedy', async () => {
  const { findings, ok, code } = await examine();
  const names = findings.map(({ name }) => name);
  for (const name of [
    'Node.js',
    'Python 3',
    'pip',
    'CMake',
    'C++20 compiler',
    'addon',
    'OpenVINO',
    'GPU',
    'device',
    'models',
    'image root',
    'data folder',
    'port',
  ]) {
    expect(names).toContain(name);
  }
  for (const { state, fix } of findings) expect(fix !== undefined).toBe(state !== 'ok');
  expect(ok).toBe(findings.every(({ state }) => state !== 'fail'));
  expect(code).toBe(ok ? 0 : 1);
});

test('a mistyped variable is named', async () => {
  expect((await examine()).of('settings')).toBeUndefined();
  vi.stubEnv('LATTICE_API_KEYS', 'keys.txt');
  const { of } = await examine();
  vi.unstubAllEnvs();
  expect(of('settings')).toMatchObject({
    state: 'warn',
    detail: expect.stringContaining('LATTICE_API_KEYS') as string,
  });
});

test('a missing image root fails with the command that makes it', async () => {
  const root = join(dataDir, 'nowhere');
  const { code, of } = await examine('--image-roots', root);
  expect(code).toBe(1);
  expect(of('image root')).toMatchObject({
    state: 'fail',
    fix: expect.stringContaining(`mkdir -p ${root}`),
  });
});

test('a data folder that cannot be written fails', async () => {
  const { code, of } = await examine('--data-dir', '/proc/lattice');
  expect(code).toBe(1);
  expect(of('data folder').state).toBe('fail');
});

test('a port in use fails and another one is offered', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { code, of } = await examine('--port', String(port));
  server.close();
  expect(code).toBe(1);
  expect(of('port')).toMatchObject({ state: 'fail', detail: `127.0.0.1:${port} is in use` });
});

test('a models folder without the default model falls back to the bundled one, with a warning', async () => {
  const { of } = await examine('--models-dir', dataDir);
  expect(of('models')).toMatchObject({ state: 'warn' });
});

test('a models folder that is not there is named', async () => {
  const { of } = await examine('--models-dir', join(dataDir, 'nowhere'));
  expect(of('models folder')).toMatchObject({
    state: 'warn',
    detail: expect.stringContaining('There is no file or folder') as string,
    fix: expect.stringContaining('LATTICE_MODELS_DIR') as string,
  });
  expect((await examine()).of('models folder')).toBeUndefined();
});

test('cuda without a CUDA engine fails, as serve would', async () => {
  const { of } = await examine('--device', 'cuda');
  const { state, fix } = of('device');
  if (state !== 'ok') expect([state, fix]).toEqual(['fail', 'LATTICE_DEVICE=auto']);
});

test('the report for people has a line for each finding and a sum', async () => {
  const { out } = await run(
    'doctor',
    '--data-dir',
    dataDir,
    '--port',
    '0',
    '--image-roots',
    '/nowhere',
  );
  expect(out).toMatch(
    /^fail {2}image root +There is no file or folder \/nowhere\.\n {6}fix: mkdir -p \/nowhere/m,
  );
  expect(out).toMatch(/\d+ ok, \d+ to look at, \d+ failing\n$/);
});

describe('Node.js', () => {
  test.each([
    ['20.20.2', 'warn'],
    ['22.23.4', 'ok'],
    ['25.1.0', 'warn'],
    ['28.0.0', 'ok'],
    ['20.19.9', 'fail'],
    ['18.20.0', 'fail'],
  ])('%s', (node, state) => {
    expect(checkNode(node)).toMatchObject({ state });
  });
});

test('production without keys fails', () => {
  const keys = { apiKeysFile: '', webhookSecret: 'x' };
  expect(checkAccess({ env: 'production', ...keys })).toMatchObject([{ state: 'fail' }]);
  expect(checkAccess({ env: 'development', ...keys })).toEqual([]);
});

test('a key file is read as the service reads it', async () => {
  const file = join(dataDir, 'keys');
  const look = async () => (await examine('--api-keys-file', file)).of('API keys');
  const absent = expect.stringContaining('There is no file or folder') as string;
  expect(await look()).toMatchObject({ state: 'fail', detail: absent });
  writeFileSync(file, 'short\n');
  expect(await look()).toMatchObject({ state: 'fail', detail: expect.stringContaining('line 1') });
  writeFileSync(file, 'long-enough-0123456789\n');
  expect(await look()).toMatchObject({ state: 'ok', detail: file });
});
