/**
 * Pictures of the service as addresses of blobs: an `img` element cannot send a key. Those in use are kept, and the
 * last ones that were, so that scrolling back shows them at once.
 */

const MOST_UNUSED = 200;

interface Entry {
  users: number;
  stop: AbortController;
  url: Promise<string>;
  /** Null until it has come. */
  made: string | null;
}

type FetchPicture = (
  path: string,
  width: number | undefined,
  signal: AbortSignal,
  crop: string | undefined,
  upload: string | undefined,
) => Promise<Blob>;

/** A picture in use, until `release`. */
export interface PictureRef {
  /** Rejects with the refusal of the service. */
  url: Promise<string>;
  release(): void;
}

export class PictureUrls {
  readonly #fetch: FetchPicture;
  readonly #mostUnused: number;
  /** The longest unused first. */
  readonly #entries = new Map<string, Entry>();

  constructor(fetch: FetchPicture, mostUnused = MOST_UNUSED) {
    this.#fetch = fetch;
    this.#mostUnused = mostUnused;
  }

  acquire(path: string, width?: number, crop?: string, upload?: string): PictureRef {
    const key = `${width} ${crop} ${upload} ${path}`;
    const entry = this.#entries.get(key) ?? this.#open(key, path, width, crop, upload);
    entry.users += 1;
    let released = false;
    return {
      url: entry.url,
      release: () => {
        if (released) return;
        released = true;
        entry.users -= 1;
        if (entry.users === 0) this.#leave(key, entry);
      },
    };
  }

  #open(
    key: string,
    path: string,
    width: number | undefined,
    crop: string | undefined,
    upload: string | undefined,
  ): Entry {
    const stop = new AbortController();
    const url = this.#fetch(path, width, stop.signal, crop, upload).then((blob) => {
      entry.made = URL.createObjectURL(blob);
      return entry.made;
    });
    const entry: Entry = { users: 0, stop, url, made: null };
    this.#entries.set(key, entry);
    url.catch(() => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    });
    return entry;
  }

  #leave(key: string, entry: Entry): void {
    if (this.#entries.get(key) !== entry) return;
    this.#entries.delete(key);
    if (entry.made === null) {
      entry.stop.abort();
      return;
    }
    this.#entries.set(key, entry);
    const unused = [...this.#entries].filter(([, { users }]) => users === 0);
    for (const [oldest, { made }] of unused.slice(0, -this.#mostUnused || unused.length)) {
      this.#entries.delete(oldest);
      if (made !== null) URL.revokeObjectURL(made);
    }
  }
}
