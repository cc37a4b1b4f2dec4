/** Folders and pictures of the service, page by page. */
import type { FolderPage } from '../../client/records.js';
import type { Api } from '../session/api.js';

export type FolderEntry = FolderPage['entries'][number];

export async function folderPage(
  api: Pick<Api, 'get'>,
  under: string,
  { limit, cursor, signal }: { limit: number; cursor?: string | null; signal?: AbortSignal },
): Promise<FolderPage> {
  const query = new URLSearchParams({ limit: String(limit) });
  if (under !== '') query.set('under', under);
  if (typeof cursor === 'string') query.set('cursor', cursor);
  return api.get<FolderPage>(`/v1/images?${query.toString()}`, signal);
}

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

/** Pictures to begin with: those of the roots, else those of the first folder that has some. */
export async function firstPictures(api: Pick<Api, 'get'>, count: number): Promise<FolderEntry[]> {
  let under = '';
  for (let depth = 0; depth < 4; depth += 1) {
    const { entries } = await folderPage(api, under, { limit: 100 });
    const pictures = entries.filter(({ type }) => type === 'image');
    if (pictures.length > 0) return pictures.slice(0, count);
    const [folder] = entries;
    if (folder === undefined) return [];
    under = folder.path;
  }
  return [];
}
