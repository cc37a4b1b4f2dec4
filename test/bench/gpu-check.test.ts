/** scripts/gpu-check.sh as far as it goes without a GPU: its steps run on GPU machines only. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { gpus } from '../../src/native/core.js';
import { PROJECT_ROOT } from '../support/service-process.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-gpu-check-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const run = (script: string, ...args: string[]) =>
  spawnSync('bash', [join(PROJECT_ROOT, 'scripts', script), ...args], {
    cwd: folder,
    encoding: 'utf8',
  });

test.each([
  ['gpu-check.sh', '--help', 0],
  ['gpu-check.sh', '--hlep', 1],
  ['pack-gpu-check.sh', '--help', 0],
])('%s takes %s for no folder and shows what it does', (script, option, status) => {
  const shown = run(script, option);
  expect(shown).toMatchObject({ status, stderr: '' });
  expect(shown.stdout).toMatch(/gpu-check/);
  expect(existsSync(join(folder, option))).toBe(false);
});

test.skipIf(gpus().missing === null)('without a GPU it ends at once with a sentence', () => {
  const refused = run('gpu-check.sh', join(folder, 'results'));
  expect(refused.status).toBe(2);
  expect(refused.stdout).toContain('There is no NVIDIA GPU here');
  expect(existsSync(join(folder, 'results/setup.log'))).toBe(false);
});
