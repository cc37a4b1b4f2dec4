/** Stops a service: first what is in progress, in parallel, then each part in the reverse order of its assembly. */
import { inTime } from './in-time.js';
import type { Logger } from './logger-port.js';

/** Extra time after the drain time, for work that cannot be interrupted. */
export const OVERRUN_MS = 10_000;

/** The list in which a part registers how it is stopped. */
export type ReleaseList = Pick<Releases, 'add' | 'addDrain'>;

export class Releases {
  readonly #log: Pick<Logger, 'debug' | 'error'>;
  readonly #drainMs: number;
  readonly #limitMs: number;
  readonly #drains: Release[] = [];
  readonly #releases: Release[] = [];

  /** A part is abandoned when it takes `overrunMs` longer than the drain time. */
  constructor(log: Pick<Logger, 'debug' | 'error'>, drainMs: number, overrunMs = OVERRUN_MS) {
    this.#log = log;
    this.#drainMs = drainMs;
    this.#limitMs = drainMs + overrunMs;
  }

  /** `drain` waits at most `drainMs` for work in progress. Drains run at the same time, before any release. */
  addDrain(name: string, drain: (drainMs: number) => Promise<void>): void {
    this.#drains.push({ name, run: () => drain(this.#drainMs) });
  }

  add(name: string, release: () => void | Promise<void>): void {
    this.#releases.push({ name, run: release });
  }

  /**
   * Releases are last in, first out. A part that fails or hangs is logged and does not keep the others from it. False
   * when one hangs; never rejects.
   */
  async releaseAll(): Promise<boolean> {
    const results = await Promise.all(this.#drains.splice(0).map((drain) => this.#finish(drain)));
    for (let part = this.#releases.pop(); part !== undefined; part = this.#releases.pop()) {
      results.push(await this.#finish(part));
    }
    return results.every(Boolean);
  }

  async #finish({ name, run }: Release): Promise<boolean> {
    try {
      const work = (async () => run())();
      const released = await inTime(
        work.then(() => true),
        this.#limitMs,
        false,
      );
      if (released) this.#log.debug({ part: name }, 'released');
      else this.#log.error({ part: name, limitMs: this.#limitMs }, 'release hangs');
      return released;
    } catch (error) {
      this.#log.error({ part: name, error: String(error) }, 'release failed');
      return true;
    }
  }
}

interface Release {
  name: string;
  run: () => void | Promise<void>;
}
