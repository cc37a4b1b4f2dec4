/** Lists one folder page by page: its folders and pictures, by name. */
import type { Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { byCodeUnits, isPlainFolder, type Place } from './find-images.js';
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
  const folder = join(query.root, query.relative);
  try {
    const entries = await firstEntries(folder, query);
    return await Promise.all(entries.map((entry) => describe(folder, entry)));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'absent';
    if (code === 'EACCES' || code === 'EPERM') return 'forbidden';
    throw error;
  }
}

async function firstEntries(folder: string, { after, limit }: FolderQuery): Promise<Dirent[]> {
  let kept: Dirent[] = [];
  for await (const entry of await opendir(folder, { bufferSize: NAMES_PER_READ })) {
    if (entry.name <= after || !isShown(entry)) continue;
    kept.push(entry);
    if (kept.length >= limit + NAMES_PER_READ) kept = lowest(kept, limit);
  }
  return lowest(kept, limit);
}

function isShown(entry: Dirent): boolean {
  if (entry.isDirectory()) return holdsPhotos(entry.name);
  return entry.isFile() && IMAGE_NAME.test(entry.name) && !entry.name.startsWith('.');
}

function lowest(entries: Dirent[], limit: number): Dirent[] {
  return entries.sort((a, b) => byCodeUnits(a.name, b.name)).slice(0, limit);
}

async function describe(folder: string, entry: Dirent): Promise<FolderEntry> {
  const status = await lstat(join(folder, entry.name)).then(
    ({ size, mtimeMs }) => ({ bytes: size, modifiedAt: mtimeMs / 1_000 }),
    () => null,
  );
  return { name: entry.name, isFolder: entry.isDirectory(), status };
}
