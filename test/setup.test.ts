/** scripts/setup.mjs in a separate project, whose `npm` installs simulated tools. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PROJECT_ROOT } from './support/service-process.js';

const SCRIPTS = ['setup.mjs', 'build-native.mjs', 'openvino.mjs', 'test-native.mjs'];
const leave = (file: string) =>
  `const { mkdirSync, writeFileSync } = require('node:fs'), { dirname } = require('node:path');` +
  `mkdirSync(dirname('${file}'), { recursive: true }); writeFileSync('${file}', '');`;
const PARTS = ['CUDA: 13.0', 'nvJPEG: left out: no nvjpeg.h', 'JPEG: libjpeg-turbo'];
const INSTALLED = {
  'node_modules/hono/package.json': '{}',
  'node_modules/cmake-js/bin/cmake-js':
    leave('build/Release/lattice.node') +
    PARTS.map((line) => `console.log('-- ${line}');`).join(''),
  'node_modules/typescript/bin/tsc': leave('dist/cli/lattice.js'),
  'node_modules/vite/bin/vite.js': leave('dist/ui/main.js'),
};

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lattice-setup-'));
  for (const name of SCRIPTS) {
    cpSync(join(PROJECT_ROOT, 'scripts', name), join(root, 'scripts', name));
  }
  const install = Object.entries(INSTALLED).map(
    ([file, text]) => `mkdir -p $(dirname ${file}) && cat > ${file} <<'END'\n${text}\nEND\n`,
  );
  mkdirSync(join(root, 'bin'));
  writeFileSync(join(root, 'bin/npm'), `#!/bin/sh\n${install.join('')}`, { mode: 0o755 });
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

function run(script: string, options: string[], more: NodeJS.ProcessEnv) {
  const PATH = [join(root, 'bin'), process.env.PATH].join(delimiter);
  const env = { ...process.env, PATH, OpenVINO_DIR: '/simulated', ...more };
  const file = join(root, 'scripts', script);
  return spawnSync(process.execPath, [file, ...options], { cwd: root, env, encoding: 'utf8' });
}
const setUp = (more: NodeJS.ProcessEnv = {}) => run('setup.mjs', [], more);

test('steps that are done are left out, and nothing is written for them', () => {
  expect(setUp()).toMatchObject({ status: 0, stderr: '' });
  const written = () => statSync(join(root, '.deps')).mtimeMs;
  const before = written();
  const again = setUp();
  expect(again).toMatchObject({ status: 0, stderr: '' });
  expect(again.stdout.match(/up to date/g)).toHaveLength(4);
  expect(written()).toBe(before);
});

test('the command line can be started as a file, as npx does', () => {
  setUp();
  expect(statSync(join(root, 'dist/cli/lattice.js')).mode & 0o111).toBe(0o111);
});

test('what was built in, or left out and why, is said of each optional part', () => {
  const { stdout } = setUp();
  for (const line of PARTS) expect(stdout).toContain(`    ${line}\n`);
});

test('a changed source is compiled again, that alone', () => {
  setUp();
  mkdirSync(join(root, 'src'));
  writeFileSync(join(root, 'src/new.ts'), '');
  expect(setUp().stdout).toMatch(/addon: up to date\n {2}TypeScript \.\.\. done/);
});

const packages = (version: string) =>
  JSON.stringify({
    packages: {
      '': {},
      'node_modules/hono': { version },
      'node_modules/for-elsewhere': { version, optional: true, os: ['sunos'], cpu: ['mips'] },
    },
  });

test.each([
  ['as they are, by npm’s own note of them', '1.0.0', /npm packages \.\.\. done/, 0],
  ['not where they are others', '1.0.1', /npm ci --no-progress --include=dev failed/, 1],
])('packages that were copied here without a stamp are taken: %s', (_, there, says, status) => {
  for (const [file, text] of Object.entries({
    ...INSTALLED,
    'package-lock.json': packages('1.0.0'),
    'node_modules/.package-lock.json': packages(there),
  })) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  writeFileSync(join(root, 'bin/npm'), '#!/bin/sh\necho no network\nexit 1\n', { mode: 0o755 });
  const ended = setUp();
  expect(ended.status).toBe(status);
  expect(ended.stdout + ended.stderr).toMatch(says);
});

test('Python with pip is asked for only where OpenVINO has to be fetched', () => {
  writeFileSync(join(root, 'bin/python3'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  expect(setUp()).toMatchObject({ status: 0, stderr: '' });
  const { status, stderr } = setUp({ OpenVINO_DIR: undefined });
  expect(status).toBe(1);
  expect(stderr).toContain('pip for Python 3');
});

test('a project that cannot be written is named', () => {
  // Root may write to every folder, but not beneath a file.
  writeFileSync(join(root, '.deps'), '');
  const { status, stderr } = setUp();
  expect(status).toBe(1);
  expect(stderr).toContain(`This user cannot write to ${root}/ (EEXIST): run npm run setup as`);
});

test('a copy that was built on another machine needs no tools and builds nothing', () => {
  mkdirSync(join(root, 'build/test/native'), { recursive: true });
  writeFileSync(join(root, 'build/prebuilt'), '');
  const nothing = { PATH: '/nowhere' };
  expect(setUp(nothing)).toMatchObject({ status: 0, stderr: '' });
  expect(run('build-native.mjs', ['--tests'], nothing)).toMatchObject({
    status: 0,
    stdout: 'built on another machine (build/prebuilt): nothing is built here\n',
  });
});

test('a checkout that was copied with its build is configured anew', () => {
  const cache = (home: string) => `CMAKE_HOME_DIRECTORY:INTERNAL=${home}\n`;
  mkdirSync(join(root, 'build/CMakeFiles'), { recursive: true });
  writeFileSync(join(root, 'build/CMakeCache.txt'), cache(join(root, 'elsewhere')));
  expect(setUp()).toMatchObject({ status: 0, stderr: '' });
  expect(existsSync(join(root, 'build/CMakeCache.txt'))).toBe(false);
  expect(existsSync(join(root, 'build/CMakeFiles'))).toBe(false);

  writeFileSync(join(root, 'build/CMakeCache.txt'), cache(realpathSync(root)));
  expect(run('build-native.mjs', [], {})).toMatchObject({ status: 0 });
  expect(existsSync(join(root, 'build/CMakeCache.txt'))).toBe(true);
});
