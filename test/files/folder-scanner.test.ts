import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FolderScanner } from '../../src/files/folder-scanner.js';
import { holdFolder } from '../support/held-folder.js';

const SILENT_MS = 1_000;

let root: string;
let scanner: FolderScanner;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lattice-scanner-'));
  scanner = new FolderScanner(SILENT_MS);
  for (const name of ['hangs', 'works']) {
    mkdirSync(join(root, name));
    writeFileSync(join(root, name, 'a.jpg'), 'a');
  }
});

afterEach(() => {
  scanner.close();
  rmSync(root, { recursive: true, force: true });
});

const open = (watch: number, path: string) => {
  const paths = [{ path, places: [{ root, relative: path }] }];
  const spec = { watch, roots: [root], paths, unlisted: [], settleMs: 100, notices: false };
  return scanner.open(spec, () => undefined);
};
const unavailable = expect.objectContaining({ code: 'volume_unavailable' }) as unknown;

test('a volume that hangs is said for its watch, and delays another watch once', async (context) => {
  let works = open(2, 'works');
  expect(await works.call('scan')).toMatchObject({ isWhole: true, counts: { files: 1 } });
  await using held = await holdFolder(join(root, 'hangs'));
  if (held === null) return context.skip();
  const hanging = open(1, 'hangs').call('scan');
  // The process works meanwhile, and the other watch is heard all the time.
  let failures = 0;
  let isOver = false;
  const lost = hanging
    .catch((error: unknown) => error)
    .finally(() => {
      isOver = true;
    });
  while (!isOver) {
    await works.call('scan').catch((error: unknown) => {
      expect(error).not.toEqual(unavailable);
      failures += 1;
      works = open(2, 'works');
    });
  }
  expect(await lost).toEqual(unavailable);
  expect(failures).toBeLessThanOrEqual(1);

  // From now on it has a process of its own.
  await expect(open(1, 'hangs').call('scan')).rejects.toEqual(unavailable);
  expect(await works.call('scan')).toMatchObject({ isWhole: true, counts: { files: 1 } });

  await held[Symbol.asyncDispose]();
  expect(await open(1, 'hangs').call('scan')).toMatchObject({ counts: { files: 1 } });
});
