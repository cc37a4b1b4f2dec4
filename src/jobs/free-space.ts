/** Watches the room on the data folder's disk, so that submits stop before results cannot be stored any more. */
import { statfs } from 'node:fs/promises';

const LOOK_EVERY_MS = 5_000;

export class FreeSpace {
  readonly #folder: string;
  readonly #reserveBytes: number;
  #short = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(folder: string, reserveBytes: number) {
    this.#folder = folder;
    this.#reserveBytes = reserveBytes;
  }

  /** Looks once, then now and then until `close`. */
  async open(): Promise<void> {
    await this.#look();
    this.#timer = setInterval(() => void this.#look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  /** Less than the reserve is left. */
  get short(): boolean {
    return this.#short;
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    try {
      const { bavail, bsize } = await statfs(this.#folder);
      this.#short = bavail * bsize < this.#reserveBytes;
    } catch {
      // A folder that cannot be looked at shows in the next write.
    }
  }
}
