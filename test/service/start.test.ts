/** What an operator sees of a start: a wrong folder by its name, and a log that machines can read. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startService } from '../support/service-process.js';

const folder = mkdtempSync(join(tmpdir(), 'lattice-start-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

test('a data folder that is a file is refused by the name of its setting', async () => {
  const dataDir = join(folder, 'file');
  writeFileSync(dataDir, '');
  await expect(startService({ dataDir })).rejects.toThrow(
    /Service ended with 2 .*LATTICE_DATA_DIR: the folder \S+file cannot be/s,
  );
});

test('an image folder that is not there is named', async () => {
  const LATTICE_IMAGE_ROOTS = `${folder}:${join(folder, 'nowhere')}`;
  await expect(startService({ env: { LATTICE_IMAGE_ROOTS } })).rejects.toThrow(
    `image folder ${join(folder, 'nowhere')} cannot be opened: No such file or directory`,
  );
});

test('standard output is one JSON object a line, and a mistyped setting is among them', async () => {
  const env = { LATTICE_LOG_LEVEL: 'info', LATTICE_IMAGE_ROOT: folder };
  await using service = await startService({ env });
  expect(await service.kill()).toBe(0);
  const lines = service.stdout().trimEnd().split('\n');
  const records = lines.map((line) => JSON.parse(line) as { msg: string; unknown?: string[] });
  expect(records.map(({ msg }) => msg)).toEqual(
    expect.arrayContaining(['detector ready', 'listening', 'stopping', 'stopped']),
  );
  expect(records.find(({ unknown }) => unknown !== undefined)?.unknown).toEqual([
    'LATTICE_IMAGE_ROOT',
  ]);
});
