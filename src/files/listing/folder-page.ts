/** Lists one folder page by page: its folders and pictures, by name. */
import { lstat, opendir } from 'node:fs/promises';
import { beneathFolder, shownName } from './byte-names.js';
import { byCodeUnits } from './find-images.js';
import { holdsPhotos, IMAGE_NAME } from './image-names.js';
import { inFolder } from './open-beneath.js';
import { resolveBeneath, resolveLink, type OutsideLink, type Place } from './resolve-beneath.js';

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

/** `absent`: there is no such folder. `forbidden`: this user may not read it. */
export type FolderPage = FolderEntry[] | 'absent' | 'forbidden' | OutsideLink;

/**
 * The first `limit` entries behind `after`, by code units. As in a job's folder, links are what they lead to, and
 * neither links that lead out of the roots nor names that begin with a dot are listed. Memory is bounded by the page,
 * not by the folder.
 */
export async function readFolderPage(query: FolderQuery): Promise<FolderPage> {
  const found = await resolveBeneath(query);
  if (found?.kind === 'outside') return { link: found.link, inCircle: found.inCircle };
  if (found?.kind !== 'folder') return 'absent';
  const { real } = found;
  try {
    return await inFolder(real, query, async (folder) =>
      Promise.all((await firstEntries(folder, real, query)).map(describe)),
    );
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'absent';
    if (code === 'EACCES' || code === 'EPERM') return 'forbidden';
    throw error;
  }
}

interface Named {
  name: string;
  isFolder: boolean;
  /** The target of a link; else the entry itself. */
  onDisk: Buffer;
}

async function firstEntries(folder: string, real: Buffer, query: FolderQuery): Promise<Named[]> {
  const { after, limit } = query;
  let kept: Named[] = [];
  /** Behind this name no entry can be among the first. */
  let last: string | null = null;
  // The types say that names are text in any encoding.
  const options = { bufferSize: NAMES_PER_READ, encoding: 'buffer' as BufferEncoding };
  for await (const entry of await opendir(folder, options)) {
    const bytes = entry.name as unknown as Buffer;
    const name = shownName(bytes);
    if (name <= after || (last !== null && name > last)) continue;
    const found = entry.isSymbolicLink()
      ? await resolveLink(query, real, bytes)
      : { kind: entry.isDirectory() ? 'folder' : entry.isFile() ? 'file' : 'other' };
    const isFolder = found?.kind === 'folder';
    if (!(isFolder || found?.kind === 'file') || !isShown(name, isFolder)) continue;
    const onDisk = 'real' in found ? found.real : beneathFolder(folder, bytes);
    kept.push({ name, isFolder, onDisk });
    if (kept.length < limit + NAMES_PER_READ) continue;
    kept = lowest(kept, limit);
    last = kept.at(-1)?.name ?? null;
  }
  return lowest(kept, limit);
}

function isShown(name: string, isFolder: boolean): boolean {
  return isFolder ? holdsPhotos(name) : IMAGE_NAME.test(name) && !name.startsWith('.');
}

function lowest(entries: Named[], limit: number): Named[] {
  return entries.sort((a, b) => byCodeUnits(a.name, b.name)).slice(0, limit);
}

async function describe({ name, isFolder, onDisk }: Named): Promise<FolderEntry> {
  const status = await lstat(onDisk).then(
    ({ size, mtimeMs }) => ({ bytes: size, modifiedAt: mtimeMs / 1_000 }),
    () => null,
  );
  return { name, isFolder, status };
}
