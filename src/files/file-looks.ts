/** Looks at files beneath the image roots without running them: which they are, and in what state. */
import { placesOfForms } from './image-paths.js';
import type { FoundFile } from './listing/file-stamps.js';
import type { Place } from './listing/find-images.js';
import { ImageLister } from './listing/image-lister.js';

/** Deadline for the stamps of the files of one call. */
const STAMPS_MS = 5_000;
/** Deadline for the digests of the files, whose bytes are read. */
const DIGESTS_MS = 60_000;

/** Looks at each path: what lies there, or null if that cannot be told. Never rejects. */
export type LookAtFiles = (
  paths: readonly string[],
  digest: boolean,
) => Promise<readonly (FoundFile | null)[]>;

/** `roots` are absolute. Other processes look: a volume that hangs holds no thread of the service. */
export function fileLooks(roots: readonly string[]): LookAtFiles {
  const lister = new ImageLister();
  return async (paths, digest) => {
    const found = new Array<FoundFile | null>(paths.length).fill(null);
    const byRoot = new Map<string, { index: number; places: Place[] }[]>();
    paths.forEach((path, index) => {
      const places = placesOfForms(path, roots);
      const root = places[0]?.root;
      if (root === undefined) return;
      const asked = byRoot.get(root) ?? [];
      asked.push({ index, places });
      byRoot.set(root, asked);
    });
    const withinMs = digest ? DIGESTS_MS : STAMPS_MS;
    const looks = [...byRoot].map(async ([root, asked]) => {
      const query = { root, files: asked.map(({ places }) => places), digest };
      const answers = await lister.ask('fileStamps', query, withinMs).catch(() => []);
      asked.forEach(({ index }, at) => (found[index] = answers[at] ?? null));
    });
    await Promise.all(looks);
    return found;
  };
}
