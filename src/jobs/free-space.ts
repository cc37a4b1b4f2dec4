/** Watches the room on the data folder's disk, so that submits stop before results cannot be stored any more. */
import { statfs } from 'node:fs/promises';
import type { Logger } from '../logger-port.js';

const LOOK_EVERY_MS = 5_000;

export class FreeSpace {
  readonly #folder: string;
  readonly #reserveBytes: number;
  readonly #logger: Logger;
  #short = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(folder: string, reserveBytes: number, logger: Logger) {
    this.#folder = folder;
    this.#reserveBytes = reserveBytes;
    this.#logger = logger;
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
      this.#judge(bavail * bsize);
    } catch {
      // A folder that cannot be looked at shows in the next write.
    }
  }

  #judge(freeBytes: number): void {
    const short = freeBytes < this.#reserveBytes;
    if (short === this.#short) return;
    this.#short = short;
    const facts = { folder: this.#folder, freeBytes, reserveBytes: this.#reserveBytes };
    if (short) this.#logger.error(facts, 'the disk is nearly full: no job is taken in');
    else this.#logger.info(facts, 'the disk has room again');
  }
}
