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

/** The real program of the step gpu, with an addon that says this of itself. */
function stubAddon(built: object, found: object, jpegEnginesMissing: string | null = null): void {
  const addon = { buildInfo: { cuda: 'CUDA 13', jpeg: 'libjpeg-turbo', ...built } };
  const gpus = { gpus: [{ index: 0 }], missing: null, ...found };
  mkdirSync(join(folder, 'project/build/Release'), { recursive: true });
  writeFileSync(join(folder, 'project/build/Release/lattice.node'), '');
  writeFileSync(
    join(folder, 'addon.cjs'),
    `require.extensions['.node'] = (module) => { module.exports = {
      buildInfo: () => (${JSON.stringify(addon.buildInfo)}), gpus: () => (${JSON.stringify(gpus)}),
      jpegEnginesMissing: () => (${JSON.stringify(jpegEnginesMissing)}) }; };`,
  );
  stub('node', `case "$1" in -e) exec ${process.execPath} -r ${folder}/addon.cjs "$@" ;; esac`);
}

function check(env: Record<string, string> = {}, options: string[] = []) {
  rmSync(join(folder, 'calls'), { force: true });
  const { status, stdout } = spawnSync(
    'bash',
    [join(folder, 'project/scripts/gpu-check.sh'), ...options, out()],
    {
      encoding: 'utf8',
      env: {
        PATH: `${join(folder, 'bin')}:/usr/bin:/bin`,
        GTest_ROOT: join(folder, 'googletest'),
        ...env,
      },
    },
  );
  return { status, stdout };
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-gpu-check-'));
  mkdirSync(join(folder, 'project/scripts'), { recursive: true });
  mkdirSync(join(folder, 'project/native'));
  writeFileSync(join(folder, 'project/native/kernel.cu'), '');
  mkdirSync(join(folder, 'shared/testdata'), { recursive: true });
  mkdirSync(join(folder, 'bin'));
  mkdirSync(join(folder, 'googletest/include/gtest'), { recursive: true });
  writeFileSync(join(folder, 'googletest/include/gtest/gtest.h'), '');
  cpSync(join(PROJECT_ROOT, 'scripts/gpu-check.sh'), join(folder, 'project/scripts/gpu-check.sh'));
  for (const name of ['npm', 'node', 'nvidia-smi', 'compute-sanitizer']) stub(name);
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('scripts/gpu-check.sh', () => {
  it.each([
    ['--help', 0],
    ['--hlep', 1],
  ])('takes %s for no folder, runs nothing and shows what it does', (option, status) => {
    const script = join(folder, 'project/scripts/gpu-check.sh');
    const shown = spawnSync('bash', [script, option], { cwd: folder, encoding: 'utf8' });
    expect(shown).toMatchObject({ status, stderr: '' });
    expect(shown.stdout).toMatch(/^All checks that need a GPU[^]*summary\.txt\.\n$/);
    expect(calls()).toEqual([]);
  });

  it('stops where the folder cannot be made', () => {
    writeFileSync(out(), '');
    expect(check()).toMatchObject({ status: 1 });
    expect(calls()).toEqual([]);
  });

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
    expect(calls().filter((call) => call.startsWith('npm'))).toEqual(['npm run setup']);
    expect(calls().filter((call) => call.startsWith('compute-sanitizer'))).toEqual([]);
    expect(readFileSync(join(out(), 'summary.txt'), 'utf8')).toBe(again.stdout);
  });

  it('says first what it runs on', () => {
    stub('nvidia-smi', 'case "$1" in *name,driver*memory*) echo "NVIDIA X, 580, 80 GiB" ;; esac');
    stub('node', 'echo v20.20.0');
    const { stdout } = check({ LATTICE_COMMIT: 'abc123' });
    expect(stdout).toMatch(
      /^GPU: NVIDIA X, 580, 80 GiB\nProcessor: .+, \d+ cores, \d+ GiB of memory\nSystem: .+, Linux .+, Node.js v20.20.0\nSources: abc123\n== setup/,
    );
  });

  it.each([
    ['the CUDA engine', { cuda: null }, null],
    ['nvJPEG', {}, 'No libnvjpeg.so was found.'],
    ['libturbojpeg', { jpeg: 'libvips' }, null],
  ])('does not measure a build without %s, unless it may', (part, built, jpegEnginesMissing) => {
    stubAddon(built, {}, jpegEnginesMissing);
    const refused = check();
    expect(refused.status).toBe(1);
    expect(refused.stdout).toMatch(new RegExp(`This build lacks: ${part}`));
    expect(calls()).not.toContainEqual(expect.stringContaining('bench:gpu'));
    const allowed = check({}, ['--allow-missing']);
    expect(allowed.status).toBe(0);
    expect(allowed.stdout).toMatch(new RegExp(`This build lacks: ${part}`));
    expect(calls()).toContainEqual(expect.stringContaining('bench:gpu'));
  });

  it('may not do without a GPU that can be used', () => {
    stubAddon({}, { gpus: [], missing: 'No driver.' });
    expect(check({}, ['--allow-missing'])).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('No driver.'),
    });
    stubAddon({}, {});
    expect(check()).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('Nothing is missing.'),
    });
  });

  it('says what it left out and why', () => {
    rmSync(join(folder, 'bin/compute-sanitizer'));
    rmSync(join(folder, 'shared'), { recursive: true });
    const { status, stdout } = check();
    expect(status).toBe(0);
    expect(stdout).toContain('Cannot run here: parity memcheck racecheck synccheck.');
    expect(stdout).toContain('memcheck: left out, compute-sanitizer is not installed');
    expect(stdout).toContain('parity: left out, ../shared/testdata is absent');
  });

  it('tells a sanitizer that is kept from the GPU from one that found something', () => {
    stub(
      'compute-sanitizer',
      'case "$2" in racecheck) echo "Error: Device not supported" ;; esac; exit 1',
    );
    const { status, stdout } = check();
    expect(status).toBe(1);
    expect(stdout).toContain('racecheck: left out, compute-sanitizer does not support this GPU');
    expect(stdout).toContain('Cannot run here: racecheck.');
    expect(stdout).toContain('Failed: memcheck synccheck');
  });

  it('measures where there is no GoogleTest, and says what that costs', () => {
    const { status, stdout } = check({ GTest_ROOT: join(folder, 'nowhere') });
    expect(status).toBe(0);
    expect(stdout).toContain('tests: left out, GoogleTest is not installed');
    expect(stdout).toContain('Cannot run here: tests memcheck racecheck synccheck.');
    expect(calls()).not.toContainEqual(expect.stringContaining('build-native'));
    expect(calls()).toContainEqual(expect.stringContaining('bench:gpu'));
  });

  it('runs the tests of a packed check, which needs no GoogleTest', () => {
    mkdirSync(join(folder, 'project/build'));
    writeFileSync(join(folder, 'project/build/prebuilt'), '');
    const { status, stdout } = check({ GTest_ROOT: join(folder, 'nowhere') });
    expect(status).toBe(0);
    expect(stdout).not.toContain('left out');
    expect(calls()).toContainEqual('npm run test:gpu');
  });

  it('builds the engine of the tests before them', () => {
    check();
    const engine = calls().findIndex((call) => call.includes('engine build tiny-v8'));
    expect(engine).toBeGreaterThan(0);
    expect(calls().indexOf('npm run test:gpu')).toBeGreaterThan(engine);
  });

  // Some of the tests' calls fail on purpose, which the sanitizer would count.
  it('leaves failed calls to the tests', () => {
    check();
    const runs = calls().filter((call) => call.startsWith('compute-sanitizer'));
    expect(runs).toHaveLength(3);
    for (const run of runs) expect(run).toContain('--report-api-errors no');
  });

  it('ends at once with a clear sentence where there is no GPU', () => {
    stub('nvidia-smi', 'echo "No devices were found"; exit 6');
    const refused = check();
    expect(refused.status).toBe(2);
    expect(refused.stdout).toContain('There is no NVIDIA GPU here');
    expect(calls().filter((call) => !call.startsWith('nvidia-smi'))).toEqual([]);
    rmSync(join(folder, 'bin/nvidia-smi'));
    expect(check()).toEqual(refused);
  });

  it('builds for the GPUs that are here', () => {
    stub(
      'nvidia-smi',
      'case "$1" in --query-gpu=compute_cap) echo 9.0; echo 8.6; echo 9.0 ;; esac',
    );
    stub('npm', `echo "$CMAKE_CUDA_ARCHITECTURES" >>"${folder}/architectures"`);
    check();
    const seen = new Set(readFileSync(join(folder, 'architectures'), 'utf8').trim().split('\n'));
    expect([...seen]).toEqual(['86-real;90-real']);
  });

  const anotherGpu = 'case "$1" in --query-gpu=name*) echo "Another GPU, 600.1" ;; esac';
  it.each([
    [
      'on another GPU',
      () => {
        stub('nvidia-smi', anotherGpu);
      },
    ],
    [
      'with other sources, though there is no git to say so',
      () => {
        writeFileSync(join(folder, 'project/native/kernel.cu'), 'mended');
      },
    ],
  ])('begins anew, figures too, %s', (_, change) => {
    const answers = join(out(), 'bench/answers');
    expect(check().status).toBe(0);
    mkdirSync(answers, { recursive: true });
    check();
    expect(existsSync(answers)).toBe(true);
    change();
    expect(check().stdout).not.toContain('passed before');
    expect(existsSync(answers)).toBe(false);
  });

  // The folder of the results may have been carried to a machine where nothing is built.
  it('sets up and builds in every run', () => {
    check();
    const { stdout } = check();
    for (const step of ['setup', 'build', 'gpu']) expect(stdout).toContain(`${step}: passed (`);
    expect(stdout).toContain('tests: passed before');
  });

  it('measures before the sanitizers, which take long', () => {
    check();
    const bench = calls().findIndex((call) => call.includes('bench:gpu'));
    expect(bench).toBeGreaterThan(calls().findIndex((call) => call.includes('parity')));
    expect(bench).toBeLessThan(calls().findIndex((call) => call.startsWith('compute-sanitizer')));
  });

  it('builds again once what was missing for the GPU may be there', () => {
    stub('node', 'case "$1" in -e) exit 1 ;; esac');
    check();
    stub('node');
    const { status, stdout } = check();
    expect(status).toBe(0);
    expect(stdout).toContain('build: passed (');
  });

  it('runs nothing more where the set-up fails', () => {
    stub('npm', 'echo it broke; exit 1');
    const { status, stdout } = check();
    expect(status).toBe(1);
    expect(stdout).toContain('it broke');
    expect(stdout).toContain('build, gpu, tests, sanitizer, parity, bench: left out');
    expect(calls()).not.toContainEqual(expect.stringContaining('build-native'));
  });

  it('takes the tests from where the build puts them', () => {
    check();
    const path = /build\/(test\/native\/\S*)lattice_gpu_test/.exec(calls().join('\n'))?.[1];
    const list = readFileSync(join(PROJECT_ROOT, path ?? '', 'CMakeLists.txt'), 'utf8');
    expect(list).toContain('lattice_tests(gpu ');
  });

  it('lets no step that hangs take the time of the others', () => {
    stub('npm', 'case "$2" in test:gpu) sleep 60 ;; esac');
    // Half of it leaves the other steps time enough on a busy machine too.
    const { status, stdout } = check({ LATTICE_GPU_CHECK_SECONDS: '20' });
    expect(status).toBe(3);
    expect(stdout).toContain('Not done: tests. Start it again to go on.');
    expect(calls()).toContainEqual(expect.stringContaining('bench:gpu'));
  });

  it('runs nothing that needs a GPU where none can be used, and fails', () => {
    stub('node', 'case "$1" in -e) exit 1 ;; esac');
    const { status, stdout } = check();
    expect(status).toBe(1);
    expect(stdout).toContain('bench: left out, they need the step gpu');
    expect(calls()).not.toContainEqual(expect.stringContaining('bench:gpu'));
  });

  it('is cut off by its time, says so, and goes on there', () => {
    stub('npm', 'case "$2" in setup) sleep 3 ;; test:gpu | parity) sleep 60 ;; esac');
    const cut = check({ LATTICE_GPU_CHECK_SECONDS: '12' });
    expect(cut.status).toBe(3);
    expect(cut.stdout).toMatch(/tests: cut off \([1-7] s\)/);
    expect(cut.stdout).toMatch(/bench: left out, -?\d+ s of 12 are left/);
    expect(cut.stdout).toContain('Start it again to go on.');
    stub('npm');
    const { status, stdout } = check();
    expect(status).toBe(0);
    expect(stdout).toContain('engine: passed before');
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
