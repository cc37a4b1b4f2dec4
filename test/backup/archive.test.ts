/** The backup file: what is put in comes out, common tools read it, and no damage passes. */
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ArchiveReader, ArchiveWriter } from '../../src/backup/archive.js';
import { entryHead, readEntries, tarEnd } from '../../src/backup/tar.js';
import { TemporaryFolder } from '../jobs/job-folder.js';

const ABOUT = {
  ...{ release: '1.2.3', schema: 3, created_at: 1_795_000_000.25 },
  ...{ jobs: 1, unfinished_jobs: 0, pending_webhooks: 0 },
};

type Files = Record<string, Uint8Array>;

async function packed(folder: TemporaryFolder, files: Files, about = ABOUT): Promise<string> {
  const path = join(folder.path, 'backup.tar');
  const file = await open(path, 'w');
  const writer = await ArchiveWriter.begin(file, about);
  for (const [index, [name, bytes]] of Object.entries(files).entries()) {
    const source = join(folder.path, `source-${index}`);
    writeFileSync(source, bytes);
    utimesSync(source, 1_700_000_000, 1_700_000_000);
    expect(await writer.add(name, source)).toBe(true);
  }
  await writer.end(2);
  await file.close();
  return path;
}

const store = (text: string): Files => ({ 'jobs.db': Buffer.from(text) });

// Without a limit: a busy machine takes its time for the processes and syncs.
test(
  'every file comes out as it was put in, by this program and by tar',
  { timeout: 0 },
  async () => {
    // Names that an upload can have: they are without control characters.
    const part = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 60 })
      .filter((name) => !/[/\\]|\p{Cc}|^\.{1,2}$/u.test(name) && Buffer.byteLength(name) < 200);
    const names = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
    const bytes = fc.uint8Array({ maxLength: 1500 });
    const pictures = fc.uniqueArray(fc.tuple(names, bytes), {
      maxLength: 5,
      // No file where another one has a folder.
      comparator: (one: string, other: string) =>
        one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`),
      selector: ([name]) => name.toLowerCase(),
    });
    await fc.assert(
      fc.asyncProperty(bytes, pictures, async (database, found) => {
        using folder = new TemporaryFolder();
        const files: Files = { 'jobs.db': database };
        for (const [name, content] of found) files[`uploads/${name}`] = content;
        const path = await packed(folder, files);
        await using reader = await ArchiveReader.open(path);
        expect(reader.about).toEqual({ format: 1, ...ABOUT });
        expect(reader.entries.map(({ name }) => name)).toEqual(Object.keys(files));
        for (const [index, entry] of reader.entries.entries()) {
          const target = join(folder.path, `target-${index}`);
          await reader.unpack(entry, target);
          expect(readFileSync(target).equals(Buffer.from(files[entry.name]!))).toBe(true);
          expect(statSync(target).mtimeMs).toBe(1_700_000_000_000);
        }
        const unpacked = join(folder.path, 'by-tar');
        mkdirSync(unpacked);
        execFileSync('tar', ['xf', path, '-C', unpacked]);
        for (const [name, content] of Object.entries(files)) {
          expect(readFileSync(join(unpacked, name)).equals(Buffer.from(content))).toBe(true);
        }
        execFileSync('sha256sum', ['--quiet', '-c', 'SHA256SUMS'], { cwd: unpacked });
      }),
      { numRuns: 20 },
    );
  },
);

test('a size beyond what a header holds is read, by this program and by tar', async () => {
  using folder = new TemporaryFolder();
  const path = join(folder.path, 'large.tar');
  const size = 9 * 1024 ** 3;
  const file = await open(path, 'w+');
  const head = entryHead({ name: 'jobs.db', size, modified: 0 });
  await file.writeFile(head);
  // Without its content, which is a hole.
  await file.truncate(head.length + size);
  await file.write(tarEnd(), 0, 1024, head.length + size);
  expect(await readEntries(file)).toEqual([
    { name: 'jobs.db', size, modified: 0, start: head.length },
  ]);
  await file.close();
  expect(execFileSync('tar', ['tvf', path]).toString()).toContain(` ${size} `);
});

test('a file that is gone is left out', async () => {
  using folder = new TemporaryFolder();
  const file = await open(join(folder.path, 'backup.tar'), 'w');
  const writer = await ArchiveWriter.begin(file, ABOUT);
  expect(await writer.add('uploads/gone.jpg', join(folder.path, 'gone.jpg'))).toBe(false);
  await file.close();
});

test('no byte can change, and no end can be missing', async () => {
  using folder = new TemporaryFolder();
  const files = { ...store('a store'), 'uploads/one/a.jpg': Buffer.alloc(700, 'x') };
  const path = await packed(folder, files);
  const whole = readFileSync(path);
  const readAll = async () => {
    await using reader = await ArchiveReader.open(path);
    for (const entry of reader.entries) await reader.check(entry);
    return reader.entries.map(({ name }) => name);
  };
  expect(await readAll()).toEqual(Object.keys(files));
  for (let length = 0; length < whole.length; length += 256) {
    writeFileSync(path, whole);
    truncateSync(path, length);
    await expect(readAll(), `cut to ${length}`).rejects.toThrow(/is no whole backup \(.*\)/);
  }
  for (const text of ['a store', 'xxx', '1.2.3', 'jobs.db', 'uploads/one', 'SHA256SUMS']) {
    const changed = Buffer.from(whole);
    changed[whole.indexOf(text)]! ^= 1;
    writeFileSync(path, changed);
    await expect(readAll(), `changed in ${text}`).rejects.toThrow(`${path} `);
  }
});

test.each([
  'uploads/../../etc/passwd',
  'uploads/./a.jpg',
  '/uploads/a.jpg',
  'uploads',
  'uploads//a.jpg',
  'elsewhere/a.jpg',
  'jobs.db-wal',
])('a file that would lie elsewhere is refused: %s', async (name) => {
  using folder = new TemporaryFolder();
  const path = await packed(folder, { ...store('x'), [name]: Buffer.from('y') });
  await expect(ArchiveReader.open(path)).rejects.toThrow(`it holds ${name}, which is in no backup`);
});

test('what another program wrote is refused', async () => {
  using folder = new TemporaryFolder();
  const { path } = folder;
  const cases: [content: () => void, expected: string][] = [
    [() => undefined, 'There is no file or folder'],
    [
      () => {
        mkdirSync(join(path, 'f'));
      },
      'is a folder',
    ],
    [
      () => {
        writeFileSync(join(path, 'f'), 'x'.repeat(4096));
      },
      'it is no tar file',
    ],
    [
      () => {
        writeFileSync(join(path, 'jobs.db'), 'x');
        execFileSync('tar', ['cf', 'f', 'jobs.db'], { cwd: path });
      },
      'was not written by `lattice backup`',
    ],
    [
      () => {
        symlinkSync('jobs.db', join(path, 'l'));
        execFileSync('tar', ['cf', 'f', 'l'], { cwd: path });
      },
      'l is no plain file',
    ],
  ];
  for (const [make, expected] of cases) {
    make();
    await expect(ArchiveReader.open(join(path, 'f')), expected).rejects.toThrow(expected);
    execFileSync('rm', ['-rf', join(path, 'f')]);
  }
});

/** A backup with a long name in it, unpacked into a folder. */
async function unpackedByTar(folder: TemporaryFolder): Promise<{ path: string; files: Files }> {
  const long = `uploads/${'long-'.repeat(15)}/${'name-'.repeat(15)}.jpg`;
  const files = { ...store('jobs'), 'uploads/a.jpg': Buffer.from('a'), [long]: Buffer.from('b') };
  const path = join(folder.path, 'unpacked');
  mkdirSync(path);
  execFileSync('tar', ['xf', await packed(folder, files), '-C', path]);
  return { path, files };
}

test.each([
  ['GNU', ['--format=gnu', '.']],
  ['ustar', ['--format=ustar', '.']],
  ['pax', ['--format=posix', '.']],
  ['pax with a header of all', ['--format=posix', '--pax-option=comment=c', '.']],
  ['no ./ and another order', ['uploads', 'SHA256SUMS', 'jobs.db', 'backup.json']],
])('one that was unpacked and packed again is read: %s', async (_name, flags) => {
  using folder = new TemporaryFolder();
  const { path, files } = await unpackedByTar(folder);
  const again = join(folder.path, 'again.tar');
  execFileSync('tar', ['cf', again, '-C', path, ...flags]);
  await using reader = await ArchiveReader.open(again);
  expect(reader.about).toEqual({ format: 1, ...ABOUT });
  expect(reader.entries.map(({ name }) => name).sort()).toEqual(Object.keys(files).sort());
  for (const entry of reader.entries) await reader.check(entry);
});

test('what differs in one that was packed again is said', async () => {
  using folder = new TemporaryFolder();
  const { path } = await unpackedByTar(folder);
  const again = join(folder.path, 'again.tar');
  const refusal = async (...tar: string[]): Promise<string> => {
    execFileSync('tar', tar, { cwd: path });
    const error: unknown = await ArchiveReader.open(again).catch((thrown: unknown) => thrown);
    return error instanceof Error ? error.message : '';
  };
  expect(await refusal('czf', again, '.')).toBe(
    `${again} is compressed (gzip). Nothing was changed. Unpack it first: gunzip ${again}`,
  );
  expect(await refusal('cf', again, '-C', folder.path, 'unpacked')).toContain(
    'has its files in the folder unpacked. Nothing was changed. Pack them without it',
  );
  expect(await refusal('cf', again, 'backup.json', 'jobs.db')).toContain('SHA256SUMS, is missing');
  const all = ['backup.json', 'jobs.db', 'uploads', 'SHA256SUMS'];
  expect(await refusal('cf', again, '--hard-dereference', ...all, 'jobs.db')).toContain(
    'other files than it holds',
  );
  writeFileSync(join(path, 'uploads', 'a.jpg'), 'changed');
  expect(await refusal('cf', again, '.')).toBe('');
  await using reader = await ArchiveReader.open(again);
  const changed = reader.entries.find(({ name }) => name === 'uploads/a.jpg')!;
  await expect(reader.check(changed)).rejects.toThrow('uploads/a.jpg is not as it was saved');
});
