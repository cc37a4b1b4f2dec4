/** `lattice engine` on folders of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { PACKAGE_ROOT } from '../../src/base/package.js';
import { loadConfig } from '../../src/settings/config.js';
import { gpus } from '../../src/native/core.js';
import { eventual } from '../support/eventually.js';
import { SAMPLE_STEM, makeOld, storeEngine, writeFile } from '../support/engine-folder.js';
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

describe('list', () => {
  test('says so when there is none', async () => {
    const none = { code: 0, err: '', out: `No engine is stored in ${folder}.\n` };
    expect(await engine('list')).toEqual(none);
    expect(await engine('list', '--json')).toEqual({ code: 0, err: '', out: '[]\n' });
    const missing = await run('engine', 'list', '--data-dir', join(folder, 'none'));
    expect(missing.out).toBe(`No engine is stored in ${join(folder, 'none', 'engines')}.\n`);
  });

  test('shows one line per engine and why one cannot be used', async () => {
    const old = '9f86d081884c-8f83d88e';
    writeFile(folder, `${old}.engine`, 'LATENGIN');
    storeEngine(folder);
    makeOld(folder, `${SAMPLE_STEM}.engine`, 0);
    const { out, err, code } = await engine('list');
    expect({ err, code }).toEqual({ err: '', code: 0 });
    const [header, first, second, ...rest] = out.split('\n');
    expect(header).toMatch(
      /^ENGINE +MODEL +PRECISION +GPU +TENSORRT +SIZE +BUILT \(UTC\) +LAST USED \(UTC\) +STATE$/,
    );
    const today = `${new Date().toISOString().slice(0, 10)} \\d\\d:\\d\\d`;
    expect(first).toMatch(new RegExp(`^${old} +- +- +- +- +0\\.0 MB +${today} +${today} +stale$`));
    expect(second).toMatch(
      new RegExp(
        `^${SAMPLE_STEM} +vehicles-v8n +fp16 +NVIDIA-H100-80GB-HBM3 +10\\.15\\.1\\.29 +0\\.0 MB +` +
          `${today} +${today} +ready$`,
      ),
    );
    expect(rest).toEqual([
      '',
      `${old}.engine was stored by an earlier release and is not used. Remove it with lattice engine prune.`,
      '',
    ]);
  });

  test('--json holds what name and file tell', async () => {
    storeEngine(folder);
    writeFile(folder, 'z.engine', 'something else');
    const [stored, foreign] = JSON.parse((await engine('list', '--json')).out);
    const today = new Date().toISOString().slice(0, 10);
    expect(stored).toEqual({
      stem: SAMPLE_STEM,
      state: 'ready',
      reason: null,
      bytes: 21,
      last_used: expect.stringContaining(today),
      model: 'vehicles-v8n',
      precision: 'fp16',
      gpu: 'NVIDIA-H100-80GB-HBM3',
      sm: '9.0',
      tensorrt_version: '10.15.1.29',
      built_at: expect.stringContaining(today),
    });
    expect(foreign).toMatchObject({ stem: 'z', state: 'foreign', last_used: null });
    expect(foreign.reason).toContain('was not written by lattice');
  });
});

describe('inspect', () => {
  test('finds all engines of a model, or an engine by the start of its name', async () => {
    storeEngine(folder);
    storeEngine(folder, { precision: 'fp32' });
    storeEngine(folder, { model: 'vehicles-v8n-depot' });
    const one = await engine('inspect', SAMPLE_STEM);
    expect(one).toMatchObject({ code: 0, err: '' });
    expect(one.out).toMatch(/^state +ready$/m);
    expect(one.out).toMatch(/^gpu +NVIDIA-H100-80GB-HBM3, compute capability 9\.0$/m);
    expect(one.out).toMatch(/^built +\d{4}-\d\d-\d\d \d\d:\d\d UTC$/m);
    for (const name of ['vehicles-v8n', 'vehicles-v8n.pt']) {
      const both = await engine('inspect', name);
      expect(both.out.match(/^precision +fp(16|32)$/gm)).toHaveLength(2);
      expect(both.out).not.toContain('depot');
    }
    expect(JSON.parse((await engine('inspect', 'vehicles-v8n-', '--json')).out)).toHaveLength(1);
  });

  test('exit code 1 for one that cannot be used', async () => {
    writeFile(folder, '9f86d081884c-8f83d88e.engine', 'LATENGIN');
    const { code, out } = await engine('inspect', '9f86');
    expect(code).toBe(1);
    expect(out).toMatch(/^state +stale: .*stored by an earlier release/m);
  });

  test('a name without a match is a usage error', async () => {
    storeEngine(folder);
    for (const name of ['depot', '', '8f86']) {
      const { code, err } = await engine('inspect', name);
      expect(code).toBe(2);
      expect(err).toContain(`is called '${name}' or built from a model of that name`);
    }
  });
});

describe('prune', () => {
  let used: string;
  let unused: string;
  const timings = 'timing_NVIDIA-H100-80GB-HBM3_sm9.0_trt10.15.1.29.cache';
  const old = ['9f86d081884c-8f83d88e.engine', 'timing-8f83d88e.cache'];
  beforeEach(() => {
    used = `${storeEngine(folder)}.engine`;
    unused = `${storeEngine(folder, { precision: 'fp32' })}.engine`;
    makeOld(folder, unused, 40);
    writeFile(folder, timings, 'timings');
    makeOld(folder, timings, 40);
    for (const name of old) writeFile(folder, name, 'LATENGIN');
    writeFile(folder, 'foreign.engine', 'something else');
    writeFile(folder, 'now.engine.partial', 'half');
    writeFile(folder, 'then.engine.partial', 'half');
    makeOld(folder, 'then.engine.partial', 1);
    writeFile(folder, 'then.lock', '');
    writeFile(folder, 'notes.txt', '');
    makeOld(folder, 'notes.txt', 400);
  });
  const stays = ['foreign.engine', 'notes.txt', 'now.engine.partial', 'then.lock'];
  const left = () => readdirSync(folder).sort();

  test('removes what earlier releases stored and names files of others', async () => {
    const { out, err, code } = await engine('prune');
    expect(code).toBe(0);
    for (const name of old) {
      expect(out).toMatch(new RegExp(`^${name} +0\\.0 MB +stored by an earlier release$`, 'm'));
    }
    expect(out).toMatch(/^then\.engine\.partial +0\.0 MB +left by an interrupted build$/m);
    expect(out).toMatch(/\nRemoved 3 files, 0\.0 MB\.\n$/);
    expect(err).toMatch(/^Left alone: foreign\.engine was not written by lattice/);
    expect(left()).toEqual([...stays, used, unused, timings].sort());
    expect((await engine('prune')).out).toBe(`There is nothing to remove in ${folder}.\n`);
  });

  test('--older-than counts from the last use', async () => {
    expect((await engine('prune', '--older-than', '41')).out).not.toContain(unused);
    const { out } = await engine('prune', '--older-than', '39.5');
    expect(out).toMatch(new RegExp(`^${unused} +0\\.0 MB +not used for 40 days$`, 'm'));
    expect(left()).toEqual([...stays, used].sort());
  });

  test('--all removes every engine; --dry-run removes none', async () => {
    const before = left();
    const dry = await engine('prune', '--all', '--dry-run');
    expect(dry.out).toContain('Would remove 6 files');
    expect(left()).toEqual(before);
    const { out } = await engine('prune', '--all');
    expect(out).toBe(dry.out.replace('Would remove', 'Removed'));
    expect(left()).toEqual(stays);
  });

  test('a wrong number of days removes nothing', async () => {
    for (const days of ['-1', 'many', '']) {
      const { code } = await engine('prune', '--older-than', days);
      expect({ days, code }).toEqual({ days, code: 2 });
    }
    expect(existsSync(join(folder, unused))).toBe(true);
  });

  test('a folder that is not there has nothing to remove', async () => {
    const none = join(folder, 'none');
    const { out, code } = await run('engine', 'prune', '--engine-cache-dir', none);
    expect({ out, code }).toEqual({ out: `There is nothing to remove in ${none}.\n`, code: 0 });
  });
});

describe('build', () => {
  test('needs a usable GPU and says what is missing', async () => {
    const { missing } = gpus();
    if (missing === null) {
      console.log('left out: this machine has a GPU');
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
