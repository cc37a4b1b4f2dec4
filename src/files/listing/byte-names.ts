/**
 * Names of files are bytes, names in requests are text. A name that is no UTF-8 has its bytes from 80 on as `%80` to `%FF`,
 * which leads to it where no file has that very name: `native/files/rooted_files.h` opens files by the same rule.
 */
import { isUtf8 } from 'node:buffer';
import { readdir, type Dirent } from 'node:fs';
import { lstat } from 'node:fs/promises';
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

type Done = (error: NodeJS.ErrnoException | null, entries?: Dirent[]) => void;

/** A folder that a search has read, by its absolute path. */
export type OnFolder = (path: string, error: NodeJS.ErrnoException | null) => void;

/** For a search that gives all names as text and leaves out folders of these names. */
export function searching(
  leftOut: ReadonlySet<string>,
  onFolder: OnFolder = () => undefined,
): NonNullable<GlobOptions['fs']> {
  const list = (path: string, _options: unknown, done: Done) => {
    const wanted: Done = (error, entries) => {
      onFolder(path, error);
      done(
        error,
        entries?.filter((entry) => !(leftOut.has(entry.name) && entry.isDirectory())),
      );
    };
    if (!hasEscapes(path)) readNames(path, wanted);
    else {
      void pathOnDisk('/', path).then((onDisk) => {
        readNames(onDisk, wanted);
      });
    }
  };
  return { readdir: list } as unknown as NonNullable<GlobOptions['fs']>;
}

function readNames(folder: string | Buffer, done: Done): void {
  readdir(folder, { withFileTypes: true }, (error, entries) => {
    // Reading bytes takes twice the time.
    const isText = error !== null || !entries.some(({ name }) => name.includes('\ufffd'));
    if (isText) done(error, entries);
    else readBytes(folder, done);
  });
}

function readBytes(folder: string | Buffer, done: Done): void {
  readdir(folder, { withFileTypes: true, encoding: 'buffer' }, (error, entries) => {
    if (error !== null) {
      done(error);
      return;
    }
    // The same objects: their methods say what is a folder.
    for (const entry of entries) Object.assign(entry, { name: shownName(entry.name) });
    done(null, entries as unknown as Dirent[]);
  });
}
