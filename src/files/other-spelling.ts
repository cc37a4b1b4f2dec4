/**
 * A file that is not there under the name of a request: opened in the other Unicode form, or what the name may have
 * meant.
 */
import { posix } from 'node:path';
import { LatticeError } from '../api/errors.js';
import { placesOf } from './image-paths.js';
import { ImageLister } from './listing/image-lister.js';
import { unicodeForms } from './unicode-forms.js';

/** A hint is no reason to wait long for a slow volume. */
const LOOK_MS = 2_000;

export class OtherSpelling {
  readonly #roots: readonly string[];
  readonly #withinMs: number;
  readonly #lister = new ImageLister();
  #looking = false;

  /** `roots` are absolute. */
  constructor(roots: readonly string[], withinMs = LOOK_MS) {
    this.#roots = roots;
    this.#withinMs = withinMs;
  }

  /**
   * The result of `open` for the path, or for its other Unicode form where there is no file of that name. Rejects as
   * `open` does; `image_not_found` then names the file that the path may have meant.
   */
  async open<T>(path: string, open: (path: string) => Promise<T>): Promise<T> {
    let missing: unknown;
    for (const form of unicodeForms(path)) {
      try {
        return await open(form);
      } catch (error) {
        if (!(error instanceof LatticeError) || error.code !== 'image_not_found') throw error;
        missing ??= error;
      }
    }
    throw await this.#explained(missing as LatticeError, path);
  }

  async #explained(error: LatticeError, path: string): Promise<LatticeError> {
    const hint = await this.#hint(path);
    if (hint === '') return error;
    const detail = `${error.message.replace(/\.$/, '')}. ${hint}`;
    return new LatticeError(error.code, detail, { cause: error });
  }

  async #hint(path: string): Promise<string> {
    const meant = await this.similar(path);
    if (meant !== null) return `Did you mean '${meant}'?`;
    return path.includes('\\') ? "Folders are separated by '/', not by '\\'." : '';
  }

  /**
   * The path beneath a root that differs in letter case, Unicode form or slashes only; null where there is none. One
   * look at a time: a job of very many missing images gets its answers without them.
   */
  async similar(path: string): Promise<string | null> {
    if (this.#looking) return null;
    this.#looking = true;
    try {
      const slashed = path.replaceAll('\\', '/');
      if (slashed.split('/').includes('..')) return null;
      for (const place of placesOf(slashed, this.#roots)) {
        const found = await this.#lister
          .ask('similarPath', place, this.#withinMs)
          .catch(() => null);
        if (found !== null) return slashed.startsWith('/') ? posix.join(place.root, found) : found;
      }
      return null;
    } finally {
      this.#looking = false;
    }
  }
}
