import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../support/service-process.js';

/** A checkout of nothing but the script, with commands that note that they ran. */
let folder: string;
const out = () => join(folder, 'results');
const calls = () =>
  existsSync(join(folder, 'calls'))
    ? readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n')
    : [];

function stub(name: string, body = ''): void {
  const file = join(folder, 'bin', name);
  writeFileSync(file, `#!/bin/bash\necho "${name} $*" >>"${folder}/calls"\n${body}\n`);
  chmodSync(file, 0o755);
}

function check(env: Record<string, string> = {}) {
  rmSync(join(folder, 'calls'), { force: true });
  const { status, stdout } = spawnSync(
    'bash',
    [join(folder, 'project/scripts/gpu-check.sh'), out()],
    {
      encoding: 'utf8',
      env: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, ...env },
    },
  );
  return { status, stdout };
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-gpu-check-'));
  mkdirSync(join(folder, 'project/scripts'), { recursive: true });
  mkdirSync(join(folder, 'shared/testdata'), { recursive: true });
  mkdirSync(join(folder, 'bin'));
  cpSync(join(PROJECT_ROOT, 'scripts/gpu-check.sh'), join(folder, 'project/scripts/gpu-check.sh'));
  for (const name of ['npm', 'node', 'nvidia-smi', 'compute-sanitizer']) stub(name);
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('scripts/gpu-check.sh', () => {
  it('runs every step once and keeps everything in one folder', () => {
    expect(check()).toMatchObject({ status: 0 });
    expect(calls()).toContainEqual(
      expect.stringMatching(
        /^npm run bench:gpu -- --quick --resume --out .*results\/bench --budget \d+$/,
      ),
    );
    for (const name of ['setup', 'build', 'gpu', 'tests', 'memcheck', 'parity', 'bench']) {
      expect(existsSync(join(out(), `${name}.log`)), name).toBe(true);
    }
    const again = check();
    expect(again.status).toBe(0);
    expect(calls().filter((call) => call.startsWith('npm'))).toEqual([]);
    expect(readFileSync(join(out(), 'summary.txt'), 'utf8')).toBe(again.stdout);
  });

  it('says what it left out and why', () => {
    rmSync(join(folder, 'bin/compute-sanitizer'));
    rmSync(join(folder, 'shared'), { recursive: true });
    const { status, stdout } = check();
    expect(status).toBe(0);
    expect(stdout).toContain('memcheck: left out, compute-sanitizer is not installed');
    expect(stdout).toContain('parity: left out, ../shared/testdata is absent');
  });

  it('runs nothing that needs a GPU where none is, and fails', () => {
    stub('node', 'case "$1" in -e) exit 1 ;; esac');
    const { status, stdout } = check();
    expect(status).toBe(1);
    expect(stdout).toContain('bench: left out, they need the step gpu');
    expect(calls()).not.toContainEqual(expect.stringContaining('bench:gpu'));
  });

  it('is cut off by its time, says so, and goes on there', () => {
    stub('npm', 'case "$2" in test:gpu) sleep 30 ;; esac');
    const cut = check({ LATTICE_GPU_CHECK_SECONDS: '2' });
    expect(cut.status).toBe(3);
    expect(cut.stdout).toMatch(/tests: cut off \([1-3] s\)/);
    expect(cut.stdout).toMatch(/bench: left out, -?\d+ s of 2 are left/);
    expect(cut.stdout).toContain('Start it again to go on.');
    stub('npm');
    const { status, stdout } = check();
    expect(status).toBe(0);
    expect(stdout).toContain('setup: passed before');
    expect(calls()).toContainEqual('npm run test:gpu');
  });

  it('counts a benchmark with open questions as not done, and a failed one as failed', () => {
    stub('npm', 'case "$2" in bench:gpu) exit 3 ;; esac');
    expect(check()).toMatchObject({
      status: 3,
      stdout: expect.stringContaining('Not done: bench'),
    });
    stub('npm', 'case "$2" in bench:gpu) echo it broke; exit 1 ;; esac');
    const { status, stdout } = check();
    expect(status).toBe(1);
    expect(stdout).toContain('it broke');
  });
});
