/** `lattice engine build`, and the folder that it builds into. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { PACKAGE_ROOT } from '../../src/base/package.js';
import { loadConfig } from '../../src/settings/config.js';
import { gpus } from '../../src/native/core.js';
import { eventual } from '../support/eventually.js';
import { run } from './run.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-engines-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
  vi.unstubAllEnvs();
});

const engine = (...args: string[]) => run('engine', ...args, '--engine-cache-dir', folder);

test('the folder lies beneath the data folder unless it is named', () => {
  expect(loadConfig({}, {}).engineCacheDir).toBe(join(PACKAGE_ROOT, 'data', 'engines'));
  expect(loadConfig({ dataDir: '/srv/data' }, {}).engineCacheDir).toBe('/srv/data/engines');
  const named = { LATTICE_DATA_DIR: '/srv/data', LATTICE_ENGINE_CACHE_DIR: 'engines' };
  expect(loadConfig({}, named).engineCacheDir).toBe(join(process.cwd(), 'engines'));
});

describe('build', () => {
  test('needs a usable GPU and says what is missing', async () => {
    const { missing } = gpus();
    if (missing === null) {
      console.log('Left out: engines without a GPU: this machine has one.');
      return;
    }
    const { code, err } = await engine('build', 'tiny-v8');
    expect(code).toBe(1);
    expect(err).toContain(missing);
    expect(process.listenerCount('SIGTERM')).toBe(0);
  });

  /** In a process of its own, on a simulated core. */
  function startBuild(...mode: string[]) {
    const script = join(PACKAGE_ROOT, 'test/support/simulated-engine-build.mjs');
    const child = spawn(process.execPath, [script, folder, ...mode]);
    const printed = { out: '', err: '' };
    child.stdout.on('data', (chunk) => (printed.out += String(chunk)));
    child.stderr.on('data', (chunk) => (printed.err += String(chunk)));
    return { child, printed, ended: once(child, 'close') };
  }

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('is given up on %s, in one line and exit code %i', async (signal, code) => {
    const { child, printed, ended } = startBuild();
    await eventual(() => printed.out).toContain('step\nstep');
    child.kill(signal);
    expect(await ended).toEqual([code, null]);
    expect(printed.err.replace(/^\d+ %\n/gm, '')).toBe(
      `The build was stopped (${signal}); the next one continues with its timings.\n`,
    );
  });

  test('is killed by a second signal where a step does not end', async () => {
    const { child, printed, ended } = startBuild('deaf');
    await eventual(() => printed.out).toContain('step');
    child.kill('SIGTERM');
    const before = printed.out.length;
    await eventual(() => printed.out.length).toBeGreaterThan(before + 20);
    expect(child.exitCode).toBeNull();
    child.kill('SIGINT');
    expect(await ended).toEqual([null, 'SIGINT']);
  });
});
