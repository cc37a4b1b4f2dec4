/**
 * The destination of an output that a user names. A regular file, or a new one, is replaced as a whole: readers see the
 * old content or the new one. A device or a pipe is written to and stays. A link stays, and the file that it leads to
 * counts. `-` is standard output.
 */
import { constants, type Stats } from 'node:fs';
import {
  open,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  type FileHandle,
} from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

export const STANDARD_OUTPUT = '-';

export type OutputPlace =
  | { kind: 'standard output' }
  /** `path` is behind all links; `before` is what is there. */
  | { kind: 'file'; path: string; before: Stats | null }
  | { kind: 'device'; path: string; before: Stats };

type Pieces = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

/** The number of links that the kernel follows. */
const MOST_LINKS = 40;
/** Folders of Linux whose links lead to open files, whatever the names of the links are. */
const OPEN_FILES = /^\/proc\/(?:\d+|self)(?:\/task\/\d+)?\/fd$/;

/** Rejects with the error of a system call where nothing can be written: a folder, a missing one, a loop of links. */
export async function outputPlace(output: string): Promise<OutputPlace> {
  if (output === STANDARD_OUTPUT) return { kind: 'standard output' };
  const { path, descriptor } = await behindLinks(resolve(output));
  if (descriptor === 1) return { kind: 'standard output' };
  const before = await stat(path).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  });
  if (before?.isDirectory() === true) throw errorOf('EISDIR', path);
  if (before !== null && (descriptor !== null || !before.isFile())) {
    return { kind: 'device', path, before };
  }
  return { kind: 'file', path, before };
}

/** The path that a shell would create or open, and the number of the descriptor where it stands for one. */
async function behindLinks(output: string): Promise<{ path: string; descriptor: number | null }> {
  let path = output;
  for (let followed = 0; followed < MOST_LINKS; followed += 1) {
    const folder = await realpath(dirname(path));
    path = join(folder, basename(path));
    if (OPEN_FILES.test(folder)) return { path, descriptor: Number(basename(path)) };
    const next = await readlink(path).catch(() => null);
    if (next === null) return { path, descriptor: null };
    path = resolve(folder, next);
  }
  throw errorOf('ELOOP', output);
}

/**
 * Writes all pieces. Opened first: where that fails, nothing is taken from `pieces`. Until a file is complete and on
 * disk it is called FILE.part-PID; where a piece fails, what was there before stays.
 */
export async function writeToPlace(
  place: Exclude<OutputPlace, { kind: 'standard output' }>,
  pieces: Pieces,
): Promise<void> {
  const { kind, path } = place;
  if (kind === 'device') {
    await writeAll(await open(path, constants.O_WRONLY), pieces);
    return;
  }
  const part = partOf(path);
  await rm(part, { force: true });
  try {
    const file = await open(part, 'wx');
    await writeAll(file, pieces, async () => {
      if (place.before !== null) await file.chmod(place.before.mode & 0o777);
      await file.sync();
    });
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Name of a file until it is complete. */
export const partOf = (path: string): string => `${path}.part-${process.pid}`;

const PART = /\.part-\d+$/;

/** Removes what a killed process has not written to its end of the files whose names match. */
export async function removeParts(
  folder: string,
  names: RegExp,
  { recursive = false } = {},
): Promise<void> {
  for (const name of await readdir(folder, { recursive })) {
    if (PART.test(name) && names.test(name.replace(PART, '')))
      await rm(join(folder, name), { force: true });
  }
}

async function writeAll(
  file: FileHandle,
  pieces: Pieces,
  end: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  try {
    for await (const piece of pieces) await file.writeFile(piece);
    await end();
  } finally {
    await file.close();
  }
}

function errorOf(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code, path, syscall: 'open' });
}
