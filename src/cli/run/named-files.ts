/** The files that `lattice run` is given: folders are read while their pictures are already submitted. */
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { isDynamicPattern } from 'tinyglobby';
import { addLeftOut, countKinds, type LeftOut } from '../../api/left-out.js';
import { STANDARD_OUTPUT } from '../../base/output-place.js';
import { beneath } from '../../files/image-paths.js';
import { beneathFolder, pathOnDisk, shownName } from '../../files/listing/byte-names.js';
import { byCodeUnits } from '../../files/listing/find-images.js';
import { chooseImages, holdsPhotos } from '../../files/listing/image-names.js';
import { expandPaths, rootsOf, type NamedImage } from '../image-paths.js';
import { onUserPath, UsageError, userPathError } from '../terminal.js';
import { PathNumbers } from './path-numbers.js';

/** The list of files comes from standard input. */
const STANDARD_INPUT = STANDARD_OUTPUT;
/** The folder of a run folder with the pictures that `--sort` has placed, and the list of them beside it. */
export const SORTED = 'sorted';
export const SORT_LIST = 'sorted.ndjson';
/** Names of a folder that are in memory together and are sorted. */
const NAMES_PER_PART = 10_000;

export interface Named {
  /** The names on the command line, without the folders above, which say where this machine keeps them. */
  given: readonly string[];
  /** Absolute, links resolved, none beneath another. */
  folders: readonly string[];
  /** Files and what globs match, without those beneath the folders. */
  images: readonly NamedImage[];
  hasList: boolean;
}

/** Rejects as `expandPaths`, and for a name that is nothing: a run of one failed image would take its place. */
export async function namedFiles(args: readonly string[]): Promise<Named> {
  const named = args.filter((arg) => arg !== STANDARD_INPUT);
  const isFolder = (arg: string) =>
    statSync(arg, { throwIfNoEntry: false })?.isDirectory() === true;
  for (const arg of named) if (!isDynamicPattern(arg)) await refuseAbsent(arg);
  const given = named.filter(isFolder).map(readableFolder);
  const folders = [...new Set(given)].filter(
    (folder) => !given.some((other) => other !== folder && beneath(folder, other) !== null),
  );
  const { images } = await expandPaths(named.filter((arg) => !isFolder(arg)));
  return {
    given: args.map((arg) => (arg === STANDARD_INPUT ? 'a list of files' : basename(resolve(arg)))),
    folders,
    images: images.filter(({ path }) => !folders.some((each) => beneath(path, each) !== null)),
    hasList: named.length < args.length,
  };
}

async function refuseAbsent(path: string): Promise<void> {
  await onUserPath(path, 'read', stat(await pathOnDisk('/', resolve(path))));
}

function readableFolder(folder: string): string {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK);
    return realpathSync(folder);
  } catch (error) {
    throw userPathError(error, folder, 'read');
  }
}

/** The folders that hold all files; those of a list on standard input may lie anywhere. */
export function rootsOfNamed({ folders, images, hasList }: Named): string[] {
  return hasList ? ['/'] : [...new Set([...folders, ...rootsOf(images)])];
}

/** The folder beside whose pictures a run folder lies. */
export function firstFolder({ folders: [folder], images: [image] }: Named): string {
  if (folder !== undefined) return folder;
  return image === undefined ? process.cwd() : dirname(image.path);
}

export class FileListing {
  readonly leftOut: LeftOut = {};
  /** Folders that may not be read. */
  readonly unreadable: string[] = [];
  readonly #named: Named;
  readonly #skipped: string;
  readonly #signal: AbortSignal;

  /** `skipped`: the run folder, which may hold pictures that a run has written. */
  constructor(named: Named, skipped: string, signal: AbortSignal) {
    this.#named = named;
    this.#skipped = skipped;
    this.#signal = signal;
  }

  /** Absolute paths, each once. A list on standard input may have files that are not there. */
  async *files(): AsyncGenerator<string, void> {
    if (this.#named.hasList) yield* distinct([this.#found(), this.#listed()]);
    else yield* this.#found();
  }

  async *#found(): AsyncGenerator<string, void> {
    for (const { path } of this.#named.images) {
      if (beneath(path, this.#skipped) === null) yield path;
    }
    for (const folder of this.#named.folders) yield* this.#beneath(folder);
  }

  /** Files of a folder before those of its folders; in parts, because a folder may hold a million. */
  async *#beneath(folder: string): AsyncGenerator<string, void> {
    const folders: string[] = [];
    let names: string[] = [];
    for await (const { name, kind } of this.#entries(folder)) {
      if (kind === 'folder') {
        if (holdsPhotos(name) && join(folder, name) !== this.#skipped) folders.push(name);
      } else if (names.push(name) >= NAMES_PER_PART) {
        yield* this.#pictures(folder, names);
        names = [];
      }
    }
    yield* this.#pictures(folder, names);
    for (const name of folders.sort(byCodeUnits)) {
      // Another run has placed them there: its links and copies are found where they lead to.
      if (name === SORTED && existsSync(join(folder, SORT_LIST))) continue;
      yield* this.#beneath(join(folder, name));
    }
  }

  *#pictures(folder: string, names: readonly string[]): Generator<string, void> {
    const { images, leftOut } = chooseImages(names.filter((name) => !name.startsWith('.')));
    addLeftOut(this.leftOut, leftOut);
    for (const name of images.sort(byCodeUnits)) yield join(folder, name);
  }

  /** A link to a folder is left out, because it may lead anywhere; one to a file is opened as the file. */
  async *#entries(folder: string): AsyncGenerator<{ name: string; kind: 'file' | 'folder' }, void> {
    const onDisk = await pathOnDisk('/', folder);
    // The declared type of the option has no 'buffer', with which the names are their bytes.
    const asBytes = { encoding: 'buffer' as BufferEncoding };
    const opened = await opendir(onDisk as string, asBytes).catch(() => null);
    if (opened === null) {
      this.unreadable.push(folder);
      return;
    }
    for await (const entry of opened) {
      if (this.#signal.aborted) return;
      const bytes = entry.name as unknown as Buffer;
      const name = shownName(bytes);
      if (entry.isDirectory()) yield { name, kind: 'folder' };
      else if (entry.isFile()) yield { name, kind: 'file' };
      else if (entry.isSymbolicLink()) {
        const to = await stat(beneathFolder(onDisk, bytes)).catch(() => null);
        if (to?.isFile() === true) yield { name, kind: 'file' };
        else if (to?.isDirectory() === true) addLeftOut(this.leftOut, countKinds(['folder link']));
      }
    }
  }

  async *#listed(): AsyncGenerator<string, void> {
    const lines = createInterface({ input: process.stdin, signal: this.#signal });
    for await (const line of lines) if (line !== '') yield resolve(line);
  }
}

async function* distinct(lists: readonly AsyncIterable<string>[]): AsyncGenerator<string, void> {
  const seen = new PathNumbers();
  for (const list of lists) {
    for await (const path of list) {
      if (seen.of(path) > 0) continue;
      seen.set(path, 1);
      yield path;
    }
  }
}

/** Growing, so that the first results come soon: parts of 64 files, 128, up to `most`. */
export async function* inParts(
  files: AsyncIterable<string>,
  most: number,
): AsyncGenerator<string[], void> {
  let size = Math.min(FIRST_PART, most);
  let part: string[] = [];
  for await (const file of files) {
    if (part.push(file) < size) continue;
    yield part;
    part = [];
    size = Math.min(2 * size, most);
  }
  if (part.length > 0) yield part;
}

const FIRST_PART = 64;

/** The folder that a run keeps its jobs and its files in. Rejects with `UsageError` where it cannot be written. */
export async function checkedRunFolder(
  out: string,
  make: (folder: string) => Promise<void>,
): Promise<void> {
  await onUserPath(out, 'write', make(out)).catch((error: unknown) => {
    if (!(error instanceof Error)) throw error;
    throw new UsageError(`${error.message} --out names a folder for the run.`);
  });
}
