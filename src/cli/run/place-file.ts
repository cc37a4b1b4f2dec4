/** Gives a file another place. Nothing is overwritten, and a file has at least one of its names at any moment. */
import { createHash } from 'node:crypto';
import { constants, createReadStream, createWriteStream, type BigIntStats } from 'node:fs';
import {
  copyFile,
  link,
  lstat,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  utimes,
} from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

/** A path whose name may be no text. */
export type Name = string | Buffer;

/**
 * `here`: it is at the new place. `before`: it was there already. `missing`: at neither place. `taken`: another file
 * has the place. `link`: it is a symbolic link, which leads elsewhere from another place.
 */
export type Placing = 'here' | 'before' | 'missing' | 'taken' | 'link';

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

async function statsOf(name: Name): Promise<BigIntStats | null> {
  return lstat(name, { bigint: true }).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    throw error;
  });
}

/** Makes a symbolic link to the file, with this text. */
export async function placeLink(from: Name, text: Name, to: string): Promise<Placing> {
  if ((await statsOf(from)) === null) return 'missing';
  try {
    await symlink(text, to);
    return 'here';
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return (await isLinkOf(text, to)) ? 'before' : 'taken';
  }
}

export async function isLinkOf(text: Name, to: string): Promise<boolean> {
  const found = await readlink(to, { encoding: 'buffer' }).catch(() => null);
  return found?.equals(Buffer.from(text)) === true;
}

export async function placeCopy(from: Name, to: string): Promise<Placing> {
  const source = await stat(from).catch(() => null);
  if (source === null) return 'missing';
  const part = partOf(to);
  if (await isCopyOf(from, to)) {
    await removePart(part);
    return 'before';
  }
  await copyFile(from, part, constants.COPYFILE_FICLONE);
  await utimes(part, source.atime, source.mtime);
  return giveName(part, to);
}

/** By size and time. File systems count time in steps of up to 2 s. */
export async function isCopyOf(from: Name, to: string): Promise<boolean> {
  const [source, copy] = await Promise.all([
    stat(from).catch(() => null),
    lstat(to).catch(() => null),
  ]);
  if (source === null || copy?.isFile() !== true || source.size !== copy.size) return false;
  return Math.abs(source.mtimeMs - copy.mtimeMs) < 2_000;
}

/** The first half of a move: the file gets the new name beside the old one, across file systems as a copy. */
export async function addName(from: Name, to: Name): Promise<Placing> {
  const [source, target] = await Promise.all([statsOf(from), statsOf(to)]);
  if (source === null) return target === null ? 'missing' : 'before';
  if (!source.isFile()) return 'link';
  if (target !== null) {
    await removePart(partOf(to));
    const isSame = isSameFile(source, target) || (await haveSameBytes(from, to));
    return isSame ? 'here' : 'taken';
  }
  try {
    await link(from, to);
    return 'here';
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return 'taken';
    if (!NO_SECOND_NAME.has(codeOf(error) ?? '')) throw error;
    return addCopy(from, to);
  }
}

/** Another file system, or one without hard links. */
const NO_SECOND_NAME = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** The second half: takes the old name away. The new one must be on the disk. */
export async function removeName(from: Name, to: Name): Promise<void> {
  const [source, target] = await Promise.all([statsOf(from), statsOf(to)]);
  if (source === null || target === null) return;
  // It was changed since it was copied.
  if (!isSameFile(source, target) && !(await haveSameBytes(from, to))) {
    throw new Error('The file was changed while it was moved: it is at both places.');
  }
  await unlink(from);
}

const isSameFile = (a: BigIntStats, b: BigIntStats) => a.ino === b.ino && a.dev === b.dev;

async function addCopy(from: Name, to: Name): Promise<Placing> {
  const part = partOf(to);
  const source = await stat(from);
  await pipeline(
    createReadStream(from),
    createWriteStream(part, { mode: source.mode, flush: true }),
  );
  await utimes(part, source.atime, source.mtime);
  return giveName(part, to);
}

/** The name of a copy until it is whole. */
export const partOf = (to: Name): Buffer => Buffer.concat([Buffer.from(to), Buffer.from('.part')]);

/** A process that was killed may have left it beside the whole copy. */
const removePart = (part: Name): Promise<void> => rm(part, { force: true });

async function giveName(part: Name, to: Name): Promise<Placing> {
  try {
    await link(part, to);
  } catch (error) {
    const isTaken = codeOf(error) === 'EEXIST' || (await statsOf(to)) !== null;
    if (isTaken) {
      await removePart(part);
      return 'taken';
    }
    if (!NO_SECOND_NAME.has(codeOf(error) ?? '')) throw error;
    await rename(part, to);
    return 'here';
  }
  await unlink(part);
  return 'here';
}

async function haveSameBytes(a: Name, b: Name): Promise<boolean> {
  const digests = await Promise.all([a, b].map(digestOf));
  return digests[0] === digests[1];
}

async function digestOf(name: Name): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(name), hash);
  return hash.digest('hex');
}
