import { mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { faultOf, isPathError, pathFault } from '../../src/base/path-fault.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-fault-'));
  writeFileSync(join(folder, 'file'), '');
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

test('what the system throws is said with its path', () => {
  const absent = thrownBy(() => openSync(join(folder, 'a', 'b'), 'w'));
  expect(pathFault(absent, join(folder, 'a', 'b'), 'write')).toBe(
    `There is no folder ${join(folder, 'a')}.`,
  );
  expect(pathFault(absent, 'b', 'read')).toBe('There is no file or folder b.');
  const beneath = thrownBy(() => readdirSync(join(folder, 'file')));
  expect(isPathError(beneath) && faultOf(beneath)).toBe(
    `${join(folder, 'file')} or what is above it is a file; a folder is needed.`,
  );
});

// Made up: root may read everything.
test.each([
  ['EACCES', 'scandir', 'No permission to read /x.'],
  ['EACCES', 'open', 'No permission to open /x.'],
  ['EPERM', 'mkdir', 'No permission to write /x.'],
  ['EROFS', 'mkdir', 'The disk of /x can only be read.'],
  ['EIO', 'read', '/x cannot be read (EIO).'],
])('%s of %s: %s', (code, syscall, sentence) => {
  const error = Object.assign(new Error(`${code}: ...`), { code, syscall, path: '/x' });
  expect(faultOf(error)).toBe(sentence);
});
