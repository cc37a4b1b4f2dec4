/**
 * Names of files are bytes, names in requests are text. A name that is no UTF-8 has its bytes from 80 on as `%80` to
 * `%FF`, which leads to it where no file has that very name: `native/files/rooted_files.h` opens files by the same
 * rule.
 */
import { isUtf8 } from 'node:buffer';
import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { GlobOptions } from 'tinyglobby';

const ESCAPE = /%([89A-F][0-9A-F])/g;

export function hasEscapes(name: string): boolean {
  return name.search(ESCAPE) >= 0;
}

export function shownName(name: Buffer): string {
  if (isUtf8(name)) return name.toString();
  return name
    .toString('latin1')
    .replace(/[\u0080-\u00ff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Where the system finds the path beneath the root; its bytes where text cannot say it. */
export async function pathOnDisk(root: string, relative: string): Promise<string | Buffer> {
  const path = join(root, relative);
  if (!hasEscapes(relative)) return path;
  const isThere = await lstat(path).then(
    () => true,
    () => false,
  );
  if (isThere) return path;
  const bytes = Buffer.from(relative)
    .toString('latin1')
    .replace(ESCAPE, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  return beneathFolder(root, Buffer.from(bytes, 'latin1'));
}

export function beneathFolder(folder: string | Buffer, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(folder), Buffer.from('/'), name]);
}

type Done = (error: NodeJS.ErrnoException | null, entries?: FolderName[]) => void;

/** A name in a folder, as a search needs it. */
export interface FolderName {
  name: string;
  /** On the disk, where text cannot say them. */
  bytes?: Buffer;
  isFile: () => boolean;
  isDirectory: () => boolean;
  isSymbolicLink: () => boolean;
}

/** Reads the names in a folder, which is given by its absolute path. */
export type ReadNames = (path: string) => Promise<FolderName[]>;

/** For a search that gives all names as text and leaves out folders of these names. */
export function searching(
  leftOut: ReadonlySet<string>,
  read: ReadNames = namesAt,
): NonNullable<GlobOptions['fs']> {
  const list = (path: string, _options: unknown, done: Done) => {
    read(path).then(
      (names) => {
        done(
          null,
          names.filter((entry) => !(leftOut.has(entry.name) && entry.isDirectory())),
        );
      },
      (error: unknown) => {
        done(error as NodeJS.ErrnoException);
      },
    );
  };
  return { readdir: list } as unknown as NonNullable<GlobOptions['fs']>;
}

async function namesAt(path: string): Promise<FolderName[]> {
  return namesIn(hasEscapes(path) ? await pathOnDisk('/', path) : path);
}

export async function namesIn(folder: string | Buffer): Promise<FolderName[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  // Reading bytes takes twice the time.
  if (!entries.some(({ name }) => name.includes('\ufffd'))) return entries;
  const inBytes = await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
  // The same objects: their methods say what is a folder.
  return inBytes.map((entry) =>
    Object.assign(entry as unknown as Dirent, { name: shownName(entry.name), bytes: entry.name }),
  );
}
