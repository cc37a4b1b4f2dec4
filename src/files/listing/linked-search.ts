/**
 * A search through folders that follows links beneath the roots, but none back to a folder above it: each real folder
 * is read once, and each real file is found once, under its own name before that of a link. Links are followed in the
 * order of their names, when all that comes without them is found, so that the same folders give the same files.
 */
import { join, posix } from 'node:path';
import type { LeftOut } from '../../api/left-out.js';
import { beneathFolder, namesIn, type FolderName, type ReadNames } from './byte-names.js';
import { holdsPhotos } from './image-names.js';
import { inFolder } from './open-beneath.js';
import { resolveBeneath, resolveLink, type OutsideLink, type Place } from './resolve-beneath.js';

/** A folder that a search has read, by its absolute path. */
export type OnFolder = (path: string, error: NodeJS.ErrnoException | null) => void;

/** Finds files, relative to its folder, in what it reads. */
type Search = (read: ReadNames) => Promise<string[]>;

interface FoundLink {
  path: string;
  name: string;
  /** Where it lies, and its name there. */
  folder: Buffer;
  bytes: Buffer;
}

/** Links that lead out and are named in an answer. */
const MOST_NAMED = 5;

export class LinkedSearch {
  /** Links that lead out of the roots, or in circles. */
  readonly leadingOut: LeftOut = {};
  readonly #place: Place;
  readonly #onFolder: OnFolder;
  /** Real paths of folders, by the paths that the search has for them. */
  readonly #real = new Map<string, Buffer>();
  readonly #read = new Set<string>();
  #links: FoundLink[] = [];
  /** Folders that are made up, so that the search goes to links and nowhere else. */
  #made: Map<string, Map<string, FolderName>> | null = null;
  /** The link to a folder that is searched now. */
  #through: string | null = null;

  constructor(place: Place, onFolder: OnFolder = () => undefined) {
    this.#place = place;
    this.#onFolder = onFolder;
  }

  /** `cwd`: of the search. */
  async find(cwd: string, search: Search): Promise<string[]> {
    const read: ReadNames = (path) => this.#names(posix.join(path, '.').replace(/(?<=.)\/$/, ''));
    const found = await search(read);
    const files: { path: string; real: string }[] = [];
    while (this.#links.length > 0) {
      const links = this.#links.sort((a, b) => (a.path < b.path ? -1 : 1));
      this.#links = [];
      for (const { path, name, folder, bytes } of links) {
        const to = await resolveLink(this.#place, folder, bytes);
        if (to?.kind === 'outside' && holdsPhotos(name)) this.#leadsOut(to);
        if (to?.kind === 'file') files.push({ path, real: to.real.toString('latin1') });
        if (to?.kind !== 'folder' || isAbove(to.real, folder)) continue;
        if (this.#read.has(to.real.toString('latin1'))) continue;
        this.#real.set(path, to.real);
        this.#goTo([path], true);
        found.push(...(await search(read)));
      }
    }
    if (files.length === 0) return found;
    const known = new Set(found.map((file) => this.#realFile(join(cwd, file))));
    const others = files.filter(({ real }) => !known.has(real) && known.add(real));
    this.#goTo(
      others.map(({ path }) => path),
      false,
    );
    found.push(...(await search(read)));
    return found;
  }

  async #names(path: string): Promise<FolderName[]> {
    const made = this.#made?.get(path);
    if (made !== undefined) return [...made.values()];
    const isThrough = path === this.#through || path.startsWith(`${this.#through}/`);
    if (this.#made !== null && !isThrough) return [];
    const real = this.#real.get(path) ?? (await this.#resolve(path));
    const key = real.toString('latin1');
    if (this.#read.has(key)) return [];
    this.#read.add(key);
    this.#real.set(path, real);
    try {
      const names = await inFolder(real, this.#place, namesIn);
      this.#onFolder(path, null);
      return names.filter((entry) => this.#isPlain(path, real, entry));
    } catch (error) {
      this.#onFolder(path, error as NodeJS.ErrnoException);
      throw error;
    }
  }

  async #resolve(path: string): Promise<Buffer> {
    const relative = posix.relative(this.#place.root, path) || '.';
    const found = await resolveBeneath({ ...this.#place, relative });
    if (found?.kind === 'folder') return found.real;
    throw Object.assign(new Error('There is no such folder.'), { code: 'ENOENT' });
  }

  #isPlain(folder: string, real: Buffer, entry: FolderName): boolean {
    if (entry.isFile()) return true;
    const bytes = entry.bytes ?? Buffer.from(entry.name);
    const path = posix.join(folder, entry.name);
    if (entry.isDirectory()) this.#real.set(path, beneathFolder(real, bytes));
    if (entry.isSymbolicLink()) this.#links.push({ path, name: entry.name, folder: real, bytes });
    return entry.isDirectory();
  }

  /** The next search sees these paths, and what lies beneath a folder, in place of all else. */
  #goTo(paths: readonly string[], areFolders: boolean): void {
    this.#made = new Map<string, Map<string, FolderName>>();
    this.#through = areFolders ? (paths[0] ?? null) : null;
    for (const path of paths) {
      for (let at = path, isFolder = areFolders; at !== '/'; at = posix.dirname(at)) {
        const folder = posix.dirname(at);
        const names = this.#made.get(folder) ?? new Map<string, FolderName>();
        const name = posix.basename(at);
        if (names.has(name)) break;
        this.#made.set(folder, names.set(name, nameOf(name, isFolder)));
        isFolder = true;
      }
    }
  }

  #realFile(path: string): string {
    const folder = this.#real.get(posix.dirname(path));
    return folder === undefined ? path : `${folder.toString('latin1')}/${latin1(path)}`;
  }

  #leadsOut({ link, inCircle }: OutsideLink): void {
    const isNamed = Object.keys(this.leadingOut).length < MOST_NAMED;
    const where = inCircle ? 'in a circle' : 'out of the image folders';
    const kind = isNamed ? `link '${link}' that leads ${where}` : 'other link that leads nowhere';
    this.leadingOut[kind] = (this.leadingOut[kind] ?? 0) + 1;
  }
}

function isAbove(real: Buffer, folder: Buffer): boolean {
  const top = Buffer.concat([real, Buffer.from('/')]);
  return folder.equals(real) || folder.subarray(0, top.length).equals(top);
}

function latin1(path: string): string {
  return Buffer.from(posix.basename(path)).toString('latin1');
}

function nameOf(name: string, isFolder: boolean): FolderName {
  return {
    name,
    isFile: () => !isFolder,
    isDirectory: () => isFolder,
    isSymbolicLink: () => false,
  };
}
