/** Facts that are written in several places of `edge/` agree. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../support/service-process.js';

const read = (file: string) => readFileSync(join(PROJECT_ROOT, 'edge', file), 'utf8');

function pinsOf(file: string): [name: string, version: string][] {
  const lines = read(file).split('\n');
  const pins = lines.filter((line) => line !== '' && !line.startsWith('#'));
  return pins.map((pin) => {
    const [, name, version] = /^([\w[\]-]+)==([\d.]+)$/.exec(pin) ?? [];
    expect(version, `${file}: ${pin} is pinned`).toBeDefined();
    return [name!, version!];
  });
}

test('a package that is named twice has one version', () => {
  const versions = new Map(pinsOf('requirements.txt'));
  for (const [name, version] of pinsOf('requirements-test.txt')) {
    expect(version, name).toBe(versions.get(name) ?? version);
  }
});

test("the image's Ray is that of the requirements", () => {
  const ray = new Map(pinsOf('requirements.txt')).get('ray[client]');
  expect(read('Dockerfile')).toContain(`ARG RAY_VERSION=${ray}\n`);
  expect(read('compose.yaml')).toContain(`RAY_VERSION: \${RAY_VERSION:-${ray}}\n`);
});

test.each([
  ['LATTICE_CORE_API_URL', 'http://host.docker.internal:8000'],
  ['LATTICE_RAY_ADDRESS', 'ray://host.docker.internal:10001'],
  ['LATTICE_RAY_NAMESPACE', 'lattice'],
])('%s has one default', (name, value) => {
  expect(read('compose.yaml')).toContain(`${name}: \${${name}:-${value}}\n`);
  expect(read('README.md')).toMatch(new RegExp(`\`${name}\` +\\| \`${value}\``));
});

test('JupyterLab is reached from this machine only, with a chosen token', () => {
  const compose = read('compose.yaml');
  expect(compose).toContain("- '127.0.0.1:${JUPYTER_PORT:-8889}:8889'\n");
  expect(compose).toContain('${JUPYTER_TOKEN:?');
  expect(read('Dockerfile')).toMatch(/^USER edge$/m);
});
