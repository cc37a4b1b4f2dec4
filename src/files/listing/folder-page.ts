/** Lists one folder page by page: its folders and pictures, by name. */
import { lstat, opendir } from 'node:fs/promises';
import { byCodeUnits, isPlainFolder, type Place } from './find-images.js';
import { beneathFolder, pathOnDisk, shownName } from './byte-names.js';
import { holdsPhotos, IMAGE_NAME } from './image-names.js';

/** Names that are read from the folder at a time. */
const NAMES_PER_READ = 1_000;

export interface FolderQuery extends Place {
  /** The page begins behind this name; '' for the first page. */
  after: string;
  limit: number;
}

export interface FolderEntry {
  name: string;
  isFolder: boolean;
  /** Null where the entry went away while it was listed. */
  status: { bytes: number; modifiedAt: number } | null;
}

/** `absent`: there is no such folder, or a link leads to it. `forbidden`: this user may not read it. */
export type FolderPage = FolderEntry[] | 'absent' | 'forbidden';

/**
 * The first `limit` entries behind `after`, by code units. As in a job's folder, neither links nor names that begin
 * with a dot are listed. Memory is bounded by the page, not by the folder.
 */
export async function readFolderPage(query: FolderQuery): Promise<FolderPage> {
  if (!(await isPlainFolder(query))) return 'absent';
  try {
    const folder = await pathOnDisk(query.root, query.relative);
    const entries = await firstEntries(folder, query);
    return await Promise.all(entries.map((entry) => describe(folder, entry)));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'absent';
    if (code === 'EACCES' || code === 'EPERM') return 'forbidden';
    throw error;
  }
}

interface Named {
  name: string;
  bytes: Buffer;
  isFolder: boolean;
}

async function firstEntries(
  folder: string | Buffer,
  { after, limit }: FolderQuery,
): Promise<Named[]> {
  let kept: Named[] = [];
  // The types say that names are text in any encoding.
  const options = { bufferSize: NAMES_PER_READ, encoding: 'buffer' as BufferEncoding };
  for await (const entry of await opendir(folder, options)) {
    const bytes = entry.name as unknown as Buffer;
    const name = shownName(bytes);
    const isFolder = entry.isDirectory();
    if (name <= after || !(isFolder || entry.isFile()) || !isShown(name, isFolder)) continue;
    kept.push({ name, bytes, isFolder });
    if (kept.length >= limit + NAMES_PER_READ) kept = lowest(kept, limit);
  }
  return lowest(kept, limit);
}

function isShown(name: string, isFolder: boolean): boolean {
  return isFolder ? holdsPhotos(name) : IMAGE_NAME.test(name) && !name.startsWith('.');
}

function lowest(entries: Named[], limit: number): Named[] {
  return entries.sort((a, b) => byCodeUnits(a.name, b.name)).slice(0, limit);
}

async function describe(
  folder: string | Buffer,
  { name, bytes, isFolder }: Named,
): Promise<FolderEntry> {
  const status = await lstat(beneathFolder(folder, bytes)).then(
    ({ size, mtimeMs }) => ({ bytes: size, modifiedAt: mtimeMs / 1_000 }),
    () => null,
  );
  return { name, isFolder, status };
}
