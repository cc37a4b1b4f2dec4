/**
 * Pictures of the service as addresses of blobs: an `img` element cannot send a key. Those in use are kept, and the last
 * ones that were, so that scrolling back shows them at once.
 */

const MOST_UNUSED = 200;

interface Entry {
  users: number;
  stop: AbortController;
  url: Promise<string>;
  /** Null until it has come. */
  made: string | null;
}

export interface PictureLease {
  /** Rejects with the refusal of the service. */
  url: Promise<string>;
  release(): void;
}

export class PictureUrls {
  readonly #fetch: (path: string, signal: AbortSignal) => Promise<Blob>;
  readonly #mostUnused: number;
  /** The longest unused first. */
  readonly #entries = new Map<string, Entry>();

  constructor(
    fetch: (path: string, signal: AbortSignal) => Promise<Blob>,
    mostUnused = MOST_UNUSED,
  ) {
    this.#fetch = fetch;
    this.#mostUnused = mostUnused;
  }

  /** `path` is the route with its query. */
  lease(path: string): PictureLease {
    const entry = this.#entries.get(path) ?? this.#open(path);
    entry.users += 1;
    let released = false;
    return {
      url: entry.url,
      release: () => {
        if (released) return;
        released = true;
        entry.users -= 1;
        if (entry.users === 0) this.#leave(path, entry);
      },
    };
  }

  #open(path: string): Entry {
    const stop = new AbortController();
    const url = this.#fetch(path, stop.signal).then((blob) => {
      entry.made = URL.createObjectURL(blob);
      return entry.made;
    });
    const entry: Entry = { users: 0, stop, url, made: null };
    this.#entries.set(path, entry);
    url.catch(() => {
      if (this.#entries.get(path) === entry) this.#entries.delete(path);
    });
    return entry;
  }

  #leave(path: string, entry: Entry): void {
    if (this.#entries.get(path) !== entry) return;
    this.#entries.delete(path);
    if (entry.made === null) {
      entry.stop.abort();
      return;
    }
    this.#entries.set(path, entry);
    const unused = [...this.#entries].filter(([, { users }]) => users === 0);
    for (const [oldest, { made }] of unused.slice(0, -this.#mostUnused || unused.length)) {
      this.#entries.delete(oldest);
      if (made !== null) URL.revokeObjectURL(made);
    }
  }
}
