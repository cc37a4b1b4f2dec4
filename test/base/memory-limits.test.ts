import { spawnSync } from 'node:child_process';
import { afterEach, expect, test, vi } from 'vitest';
import { memoryShortage } from '../../src/base/memory-limits.js';
import { PROJECT_ROOT } from '../support/service-process.js';

afterEach(() => {
  vi.restoreAllMocks();
});

test.each([
  ['300 MiB', 300 * 2 ** 20, /may use 300 MiB of memory and needs 400, larger models more: raise/],
  ['1 GiB', 2 ** 30, null],
  ['no limit known', 0, null],
  ['no limit', 2 ** 64, null],
])('a container of %s', (_name, bytes, sentence) => {
  vi.spyOn(process, 'constrainedMemory').mockReturnValue(bytes);
  if (sentence === null) expect(memoryShortage()).toBeNull();
  else expect(memoryShortage()).toMatch(sentence);
});

test('a start with too few addresses is refused in one sentence', () => {
  const serve = ['-c', 'ulimit -v 4096000; exec "$0" "$@"', process.execPath];
  const told = spawnSync('sh', [...serve, 'dist/cli/lattice.js', 'serve', '--port', '0'], {
    cwd: PROJECT_ROOT,
    encoding: 'utf8',
    timeout: 20_000,
  });
  expect(told.stderr).toMatch(/^lattice: The address space .* limited to 4000 MiB .*remove that/);
  expect(told.stderr.trim().split('\n')).toHaveLength(1);
  expect(told.status).toBe(2);
});
