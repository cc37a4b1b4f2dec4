// The packages of Debian and Ubuntu that the project's commands need beside Node.js, and their installation.
//
//   node scripts/system-packages.mjs    prints the table of CONTRIBUTING.md
//
// Uses Node's own modules only: it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { needsOpenVino } from './openvino.mjs';

const runs = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

/** Whether the compiler that CMake takes accepts the program. */
function compiles(program) {
  const args = ['-std=c++20', '-fsyntax-only', '-x', 'c++', '-'];
  return spawnSync(process.env.CXX ?? 'c++', args, { input: program }).status === 0;
}

const USES_CXX20 = '#include <span>\nint main() { std::span<int> s; return s.empty() ? 0 : 1; }\n';

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * Path of a Chromium that starts: that of Ubuntu's package is a script that asks for a snap. Null where there is none.
 */
export function findBrowser() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const paths = folders.flatMap((folder) => BROWSERS.map((name) => join(folder, name)));
  return paths.find((path) => existsSync(path) && runs(path, '--version')) ?? null;
}

/**
 * `of`: the command that needs it. `without`: what is left out where it is missing; absent where the command cannot
 * run. `how`: how to get it, where apt-get may not know it. A Python from elsewhere brings its own pip and venv, so a
 * package is asked for only where its probe fails.
 */
export const PACKAGES = [
  { name: 'cmake', of: 'set-up', brings: 'CMake', isThere: () => runs('cmake', '--version') },
  {
    name: 'g++',
    of: 'set-up',
    brings: 'a C++20 compiler',
    isThere: () => compiles(USES_CXX20),
  },
  {
    name: 'make',
    of: 'set-up',
    brings: 'make',
    isThere: () => runs('make', '--version') || runs('ninja', '--version'),
  },
  {
    name: 'python3',
    of: 'set-up',
    brings: 'Python 3, which fetches OpenVINO',
    isThere: () => !needsOpenVino() || runs('python3', '--version'),
  },
  {
    name: 'python3-pip',
    of: 'set-up',
    brings: 'pip for Python 3, which fetches OpenVINO',
    isThere: () => !needsOpenVino() || runs('python3', '-m', 'pip', '--version'),
  },
  {
    name: 'libturbojpeg0-dev',
    of: 'set-up',
    brings: 'libjpeg-turbo, which halves the time that JPEGs take to decode',
    without: 'the faster decoder of JPEGs',
    isThere: () => compiles('#include <stdio.h>\n#include <turbojpeg.h>\n'),
  },
  {
    name: 'python3-venv',
    of: 'tests',
    brings: 'Python 3 with venv',
    isThere: () => runs('python3', '-c', 'import ensurepip, venv'),
  },
  {
    name: 'curl',
    of: 'tests',
    brings: 'curl, for the examples of the pages',
    isThere: () => runs('curl', '--version'),
  },
  {
    name: 'libgtest-dev',
    of: 'tests',
    brings: 'GoogleTest',
    without: 'the native unit tests',
    isThere: () => process.env.GTest_ROOT !== undefined || compiles('#include <gtest/gtest.h>\n'),
  },
  {
    name: 'clang-format',
    of: 'tests',
    brings: 'clang-format',
    without: 'the check of the format of C++',
    isThere: () => runs('clang-format', '--version'),
  },
  {
    name: 'iproute2',
    of: 'tests',
    brings: 'ip, for networks of their own',
    without: 'the tests on Ray, and those without a network',
    isThere: () => runs('ip', '-V'),
  },
  {
    name: 'openssl',
    of: 'tests',
    brings: 'openssl, for certificates',
    without: 'the test with a certificate that nobody signed',
    isThere: () => runs('openssl', 'version'),
  },
  {
    name: 'chromium',
    of: 'tests',
    brings: 'a browser',
    without: 'the browser tests',
    how: 'on Debian apt-get install -y chromium; Ubuntu has it as a snap only, install Google Chrome',
    isThere: () => findBrowser() !== null,
  },
];

/** A sentence on what is left out because the package is missing; null where it is there. */
export function whyLeftOut(name) {
  const wanted = PACKAGES.find((each) => each.name === name);
  return wanted.isThere() ? null : leftOut(wanted);
}

const leftOut = ({ name, without, how = lineFor([name]) }) =>
  `Left out: ${without}, because ${name} is missing (${how})`;

const INSTALL = ['apt-get', 'install', '-y', '--no-install-recommends'];
const isRoot = process.getuid?.() === 0;
const hasSudo = () => runs('sudo', '-V');
const lineFor = (names) =>
  [...(isRoot || !hasSudo() ? [] : ['sudo']), ...INSTALL, ...names].join(' ');
const isNeeded = ({ without }) => without === undefined;

/**
 * Installs the missing packages of the commands, where this user may, and says so before. Says what is left out where
 * one is missing all the same. Throws with the line to copy when the command cannot run without it.
 */
export function installPackages(commands) {
  const lacking = PACKAGES.filter(({ of, isThere }) => commands.includes(of) && !isThere());
  if (lacking.length === 0) return;
  const { prefix, refusal } = installer();
  const failure = refusal ?? install(prefix, lacking);
  const missing = refusal === undefined ? lacking.filter(({ isThere }) => !isThere()) : lacking;
  if (missing.some(isNeeded)) {
    const what = missing.filter(isNeeded).map(({ brings }) => `  - ${brings}\n`);
    const line = lineFor(missing.map(({ name }) => name));
    throw new Error(
      `Missing:\n${what.join('')}Not installed: ${failure}.\n` +
        `On Debian or Ubuntu copy this line${isRoot || hasSudo() ? '' : ', as root'}, then run the same command again:\n\n  ${line}`,
    );
  }
  for (const each of missing) console.log(`  ${leftOut(each)}`);
}

/** The words before apt-get, or why this user installs nothing. */
function installer() {
  if ((process.env.LATTICE_NO_INSTALL ?? '') !== '')
    return { refusal: 'LATTICE_NO_INSTALL is set' };
  if (!runs('apt-get', '--version')) return { refusal: 'there is no apt-get here' };
  if (isRoot) return { prefix: [] };
  if (runs('sudo', '-n', 'true')) return { prefix: ['sudo', '-n'] };
  return { refusal: 'this user is not root, and has no sudo without a password' };
}

/** Returns why a package may still be missing, as a clause. */
function install(prefix, packages) {
  const names = (chosen) => chosen.map(({ name }) => name);
  console.log(
    `  apt-get installs ${names(packages).join(', ')} (LATTICE_NO_INSTALL=1 forbids it) ...`,
  );
  const start = Date.now();
  const call = (...words) => {
    const [program, ...args] = [...prefix, 'env', 'DEBIAN_FRONTEND=noninteractive', ...words];
    return spawnSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
  };
  // Without the newest lists a package may still be found in those that are there.
  call('apt-get', 'update', '-qq');
  const known = packages.filter(({ name }) => call('apt-cache', 'madison', name).stdout?.trim());
  if (known.length === 0) return 'apt-get has no such package';
  // One that breaks must not keep the needed ones away.
  for (const chosen of [known, known.filter(isNeeded)]) {
    if (chosen.length === 0) break;
    const { status, error, stderr } = call(...INSTALL, '-qq', ...names(chosen));
    if (status === 0) {
      console.log(`  apt-get: done (${((Date.now() - start) / 1000).toFixed(1)} s)`);
      return 'apt-get brought no such program';
    }
    console.log(`  apt-get failed:\n${stderr ?? error}`);
  }
  return 'apt-get failed';
}

/** The rows of the table in CONTRIBUTING.md. */
export const packageTable = () =>
  [
    ['package', 'for', 'brings', 'left out without it'],
    ['---', '---', '---', '---'],
    ...PACKAGES.map(({ name, of, brings, without }) => [
      `\`${name}\``,
      of,
      brings,
      without ?? 'everything: the command stops',
    ]),
  ]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(packageTable());
