/** Lists the folders beneath the image roots, page by page. */
import { posix } from 'node:path';
import { LatticeError } from '../api/errors.js';
import { beneath, checkImagePath } from './image-paths.js';
import { byCodeUnits, type Place } from './listing/find-images.js';
import type { FolderEntry, FolderPage } from './listing/folder-page.js';
import { ImageLister, noFolder } from './listing/image-lister.js';
import { outsideText } from './listing/resolve-beneath.js';

const LISTING_MS = 10_000;
/** The lister has a queue for each root, so that a root that hangs delays no other. */
const MOST_IN_HAND = 32;

export interface FolderListing {
  /** Path of the folder, as a request may name it; '' for the roots. */
  path: string;
  entries: (FolderEntry & { path: string })[];
  /** The name behind which the next page begins; null on the last one. */
  next: string | null;
}

export class Folders {
  readonly #roots: readonly string[];
  readonly #withinMs: number;
  /** Separate from the lister of jobs, so that browsing takes no process from a submission. */
  readonly #lister = new ImageLister();
  #inHand = 0;

  /** `roots` are absolute. */
  constructor(roots: readonly string[], withinMs = LISTING_MS) {
    this.#roots = roots;
    this.#withinMs = withinMs;
  }

  /**
   * Lists at most `limit` entries of the folder `under` that come after the name `after`, by code units. A relative
   * folder is looked up in all roots: of entries with the same name, the one of the first root is listed, because
   * detection opens that one. Rejects with `path_not_allowed`, `not_found`, `image_unreadable` (no permission),
   * `volume_unavailable` (a root does not answer), `machine_overloaded` or `overloaded`.
   */
  async list(under: string, after: string, limit: number): Promise<FolderListing> {
    checkImagePath(under, this.#roots);
    const path = posix.join('/', under, '.').slice(under.startsWith('/') ? 0 : 1);
    // An entry more than asked for shows whether there is a next page.
    const pages = await this.#pages(path, after, limit + 1);
    const readable = pages.filter((page) => Array.isArray(page));
    if (readable.length === 0) throw whyUnreadable(path, pages);
    const entries = merged(readable);
    const shown = entries.slice(0, limit);
    return {
      path,
      entries: shown.map((entry) => ({ ...entry, path: posix.join(path, entry.name) })),
      next: entries.length > limit ? (shown.at(-1)?.name ?? null) : null,
    };
  }

  /** A page for each place where the folder may be. */
  async #pages(path: string, after: string, limit: number): Promise<FolderPage[]> {
    if (this.#inHand >= MOST_IN_HAND) throw tooManyAtOnce();
    this.#inHand += 1;
    try {
      return await Promise.all(
        this.#places(path).map((place) => this.#page(place, after, limit, path)),
      );
    } finally {
      this.#inHand -= 1;
    }
  }

  /**
   * The places where the folder may be. An absolute path belongs to the innermost of nested roots, as for detection.
   */
  #places(path: string): Place[] {
    const roots = this.#roots;
    if (!path.startsWith('/')) return roots.map((root) => ({ root, relative: path, roots }));
    const places = roots.flatMap((root) => {
      const relative = beneath(path, root);
      return relative === null ? [] : [{ root, relative, roots }];
    });
    return places.sort((a, b) => b.root.length - a.root.length).slice(0, 1);
  }

  async #page(place: Place, after: string, limit: number, path: string): Promise<FolderPage> {
    try {
      return await this.#lister.ask('readFolderPage', { ...place, after, limit }, this.#withinMs);
    } catch (cause) {
      throw noFolder(named(path), cause);
    }
  }
}

export function tooManyAtOnce(): LatticeError {
  const detail = 'Too many requests for folders or pictures are in progress. Try again later.';
  return new LatticeError('overloaded', detail, { retryAfterS: 1 });
}

function merged(pages: readonly FolderEntry[][]): FolderEntry[] {
  const byName = new Map<string, FolderEntry>();
  for (const page of pages) {
    for (const entry of page) if (!byName.has(entry.name)) byName.set(entry.name, entry);
  }
  return [...byName.values()].sort((a, b) => byCodeUnits(a.name, b.name));
}

function named(path: string): string {
  return path === '' ? 'an image folder of this service' : `'${path}'`;
}

function whyUnreadable(path: string, pages: readonly FolderPage[]): LatticeError {
  for (const page of pages) {
    if (typeof page === 'object' && 'link' in page) {
      return new LatticeError('path_not_allowed', outsideText(page));
    }
  }
  return pages.includes('forbidden') ? forbidden(path) : absent(path);
}

function absent(path: string): LatticeError {
  const detail =
    path === ''
      ? 'None of the image folders exists on the machine of the service.'
      : `There is no folder '${path}' beneath the image folders.`;
  return new LatticeError('not_found', detail);
}

function forbidden(path: string): LatticeError {
  return new LatticeError(
    'image_unreadable',
    `The service has no permission to read ${named(path)}.`,
  );
}
