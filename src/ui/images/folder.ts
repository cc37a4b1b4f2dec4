/** Folders and pictures of the service. */
import type { FolderPage, LatticeClient } from '../../client/lattice-client.js';

export type FolderEntry = FolderPage['entries'][number];

/** The folder of a path; empty for the roots. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** `2026/11` -> each folder on the way, without the roots. */
export function folderTrail(path: string): { name: string; path: string }[] {
  const isAbsolute = path.startsWith('/');
  const names = path.split('/').filter((name) => name !== '');
  return names.map((name, index) => ({
    name,
    path: (isAbsolute ? '/' : '') + names.slice(0, index + 1).join('/'),
  }));
}

/** Folders that are looked into for pictures to begin with. */
const LOOKS = 8;

/**
 * Pictures to begin with: those of the roots, else those of the first folder that has some, a folder before those in
 * it. Null where that many looks do not show whether there are any.
 */
export async function firstPictures(
  service: Pick<LatticeClient, 'folder'>,
  count: number,
): Promise<FolderEntry[] | null> {
  const folders = [''];
  let isWhole = true;
  for (const [look, under] of folders.entries()) {
    if (look === LOOKS) return null;
    const { entries, next_cursor } = await service.folder({ under, limit: 100 });
    const pictures = entries.filter(({ type }) => type === 'image');
    if (pictures.length > 0) return pictures.slice(0, count);
    folders.push(...entries.map(({ path }) => path));
    isWhole &&= next_cursor === null;
  }
  return isWhole ? [] : null;
}
