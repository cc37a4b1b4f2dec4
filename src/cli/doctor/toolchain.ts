/** Node.js, and what the build of the addon needs. */
import { spawnSync } from 'node:child_process';
import { fail, ok, warn, type Finding } from './finding.js';

const RECOMMENDED = '22.23.4, 24.22.1, 26.12.1 or newer';
const OLDEST = [20, 20] as const;
const END_OF_LIFE = new Set([20, 21, 23, 25]);

type Version = readonly [number, number, number];

export function checkNode(versions: { node: string }): Finding[] {
  const [major, minor] = parseVersion(versions.node);
  const install = `install Node.js ${RECOMMENDED} (https://nodejs.org)`;
  const shown = `Node.js ${versions.node}`;
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    return [fail('Node.js', `${shown} is too old, ${OLDEST.join('.')} is needed`, install)];
  }
  return [
    END_OF_LIFE.has(major)
      ? warn('Node.js', `${shown} works, but gets no security fixes any more`, install)
      : ok('Node.js', shown),
  ];
}

/** `needed`: the addon is not there yet, so a missing tool stops the set-up. */
export function checkBuildTools(needed: boolean): Finding[] {
  const missing = needed ? fail : warn;
  const why = needed ? 'missing' : 'missing; only needed to build the addon again';
  const tool = (name: string, text: string | null, fix: string): Finding =>
    text === null ? missing(name, why, fix) : ok(name, text);
  const cmake = outputOf('cmake', ['--version'])?.replace(/^cmake version /, '') ?? null;
  const cmakeFix = "apt-get install -y cmake (or: python3 -m pip install 'cmake>=3.22')";
  const [major, minor] = parseVersion(cmake ?? '0');
  const oldCmake = cmake !== null && (major < 3 || (major === 3 && minor < 22));
  return [
    tool('Python 3', outputOf('python3', ['--version']), 'apt-get install -y python3'),
    tool('pip', pipVersion(), 'apt-get install -y python3-pip'),
    oldCmake
      ? missing('CMake', `${cmake} is too old, 3.22 is needed`, cmakeFix)
      : tool('CMake', cmake, cmakeFix),
    tool('C++20 compiler', compilerVersion(), 'apt-get install -y g++'),
  ];
}

function parseVersion(text: string): Version {
  const [major = 0, minor = 0, patch = 0] = text
    .split('.')
    .map((part) => Number.parseInt(part, 10));
  return [major, minor, patch];
}

function pipVersion(): string | null {
  return outputOf('python3', ['-m', 'pip', '--version'])?.replace(/ from .*/, '') ?? null;
}

/** The compiler that CMake takes, CXX or c++, if it knows C++20. The shell reads CXX: settings do not. */
function compilerVersion(): string | null {
  const program = '#include <span>\nint main() { std::span<int> s; return s.empty() ? 0 : 1; }\n';
  const compile = '${CXX:-c++} -std=c++20 -fsyntax-only -x c++ - && ${CXX:-c++} --version';
  return outputOf('sh', ['-c', compile], program);
}

/** First line of what it prints; null when it cannot be run or fails. */
function outputOf(command: string, args: string[], input = ''): string | null {
  const run = spawnSync(command, args, { encoding: 'utf8', input, timeout: 20_000 });
  if (run.status !== 0) return null;
  return run.stdout.split('\n')[0]?.trim() ?? '';
}
