/** scripts/setup.mjs in a separate project, whose `npm` installs simulated tools. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PACKAGES, packageTable } from '../scripts/system-packages.mjs';
import { PROJECT_ROOT } from './support/service-process.js';

const SCRIPTS = [
  'setup.mjs',
  'system-packages.mjs',
  'build-native.mjs',
  'openvino.mjs',
  'test-native.mjs',
];
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

function environment(more: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const PATH = [join(root, 'bin'), process.env.PATH].join(delimiter);
  const set = { OpenVINO_DIR: '/simulated', LATTICE_NO_INSTALL: '1' };
  return { ...process.env, PATH, ...set, ...more };
}

function run(script: string, options: string[], more: NodeJS.ProcessEnv) {
  const file = join(root, 'scripts', script);
  return spawnSync(process.execPath, [file, ...options], {
    cwd: root,
    env: environment(more),
    encoding: 'utf8',
  });
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

const write = (name: string, lines: string[]) => {
  writeFileSync(join(root, 'bin', name), ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });
};
const noPython = () => {
  write('python3', ['exit 1']);
};
/** It brings python3 with pip if it knows them and ends with 0; `apt.log` has what it was asked. */
const aptGet = (knows: boolean, ends = 0) => {
  const brings = knows && ends === 0 ? `printf '#!/bin/sh\\n' > ${join(root, 'bin/python3')}` : ':';
  write('apt-get', [
    '[ "$1" = --version ] && exit 0',
    `echo "$DEBIAN_FRONTEND $*" >> ${join(root, 'apt.log')}`,
    `case "$*" in *' python3'*) ${brings} ;; esac`,
    `exit ${ends}`,
  ]);
  write('apt-cache', knows ? ['echo "$2 | 1.0"'] : []);
};
const asked = () => readFileSync(join(root, 'apt.log'), 'utf8').trimEnd().split('\n');
const mayInstall = { LATTICE_NO_INSTALL: '' };
/** Where OpenVINO has to be fetched; the simulated pip leaves none. */
const fetching = { OpenVINO_DIR: undefined };

test('pages and images name the packages of the table', () => {
  const read = (file: string) => readFileSync(join(PROJECT_ROOT, file), 'utf8');
  const words = (text: string) => text.replaceAll(/ {2,}|-{2,}/g, ' ').replaceAll('- ', ' ');
  expect(words(read('CONTRIBUTING.md'))).toContain(words(packageTable()));
  const ofSetUp = PACKAGES.filter(({ of }) => of === 'set-up').map(({ name }) => name);
  expect(read('deploy/Dockerfile')).toContain(`--no-install-recommends ${ofSetUp.join(' ')} \\\n`);
  expect(read('.ci/run')).toMatch(/\nset -euo pipefail\ncd .*\nnpm test\n$/);
});

describe('what the system lacks', () => {
  test('Python with pip only where OpenVINO has to be fetched: named, with the line to copy', () => {
    noPython();
    expect(setUp()).toMatchObject({ status: 0, stderr: '' });
    const { status, stderr } = setUp(fetching);
    expect(status).toBe(1);
    expect(stderr).toContain('  - Python 3');
    expect(stderr).toContain('LATTICE_NO_INSTALL is set');
    expect(stderr).toMatch(/apt-get install -y --no-install-recommends python3 python3-pip$/m);
  });

  test('is installed by apt-get, which is said before', () => {
    noPython();
    aptGet(true);
    write('sudo', ['[ "$1" = -n ] && shift && exec "$@"']);
    const { stdout } = setUp({ ...fetching, ...mayInstall });
    expect(stdout).toMatch(
      /apt-get installs python3, python3-pip \(LATTICE_NO_INSTALL=1 forbids it\)[^]*apt-get: done[^]*npm packages/,
    );
    expect(asked()).toEqual([
      'noninteractive update -qq',
      'noninteractive install -y --no-install-recommends -qq python3 python3-pip',
    ]);
  });

  test.each([
    ['knows no such package', false, 0, 'apt-get has no such package'],
    ['fails', true, 100, 'apt-get failed'],
  ])('is named where apt-get %s', (_, knows, ends, reason) => {
    noPython();
    aptGet(knows, ends);
    write('sudo', ['[ "$1" = -n ] && shift && exec "$@"']);
    const { status, stderr } = setUp({ ...fetching, ...mayInstall });
    expect(status).toBe(1);
    expect(stderr).toContain(`Not installed: ${reason}.`);
  });

  test('is installed for another user than root only where sudo asks for no password', () => {
    noPython();
    aptGet(true);
    write('sudo', ['[ "$1" = -V ] && exit 0', 'echo "$*" >> "$HOME/sudo.log"', 'exit 1']);
    const user = process.getuid!() === 0 ? 65534 : undefined;
    if (user !== undefined) spawnSync('chown', ['-R', String(user), root]);
    const env = { ...environment({ ...fetching, ...mayInstall }), HOME: root };
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/setup.mjs')], {
      ...{ cwd: root, encoding: 'utf8', env },
      ...(user !== undefined && { uid: user, gid: user }),
    });
    expect(status).toBe(1);
    expect(stderr).toContain('this user is not root, and has no sudo without a password');
    expect(stderr).toMatch(/^ {2}sudo apt-get install -y --no-install-recommends python3 /m);
    expect(readFileSync(join(root, 'sudo.log'), 'utf8')).toBe('-n true\n');
    expect(existsSync(join(root, 'apt.log'))).toBe(false);
  });

  test('nothing is asked for once all is built', () => {
    expect(setUp()).toMatchObject({ status: 0 });
    write('c++', ['exit 1']);
    write('cmake', ['exit 1']);
    aptGet(true);
    expect(setUp(mayInstall)).toMatchObject({ status: 0, stderr: '' });
    expect(existsSync(join(root, 'apt.log'))).toBe(false);
  });
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
