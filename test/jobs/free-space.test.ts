import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { FreeSpace } from '../../src/jobs/free-space.js';

function recorded() {
  const lines: { level: string; fields: object }[] = [];
  const log = (level: string) => (fields: object) => {
    lines.push({ level, fields });
  };
  const [debug, info, warn, error] = [log('debug'), log('info'), log('warn'), log('error')];
  return { lines, logger: { debug, info, warn, error } };
}

test('a disk with less than the reserve is short, and the log says so once', async () => {
  const { lines, logger } = recorded();
  const space = new FreeSpace(tmpdir(), Number.MAX_SAFE_INTEGER, logger);
  await space.open();
  space.close();
  expect(space.short).toBe(true);
  expect(lines).toEqual([
    { level: 'error', fields: expect.objectContaining({ folder: tmpdir() }) as object },
  ]);
});

test('a disk with room is not, nor is a folder that cannot be looked at', async () => {
  const { lines, logger } = recorded();
  for (const folder of [tmpdir(), '/no/such/folder']) {
    const space = new FreeSpace(folder, 1, logger);
    await space.open();
    space.close();
    expect(space.short).toBe(false);
  }
  expect(lines).toEqual([]);
});
