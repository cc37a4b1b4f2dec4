/** Stops a service: first what is in progress, in parallel, then each part in the reverse order of its assembly. */
import { inTime } from '../base/in-time.js';
import type { Logger } from '../base/logger-port.js';

type ShutdownLog = Pick<Logger, 'debug' | 'error'>;

/** Beyond the drain time, for work that cannot be interrupted. */
export const OVERRUN_MS = 10_000;

export class Releases {
  readonly #log: ShutdownLog;
  readonly #drainMs: number;
  readonly #limitMs: number;
  readonly #drains: Release[] = [];
  readonly #releases: Release[] = [];

  /** A part is abandoned when it takes `overrunMs` longer than the drain time. */
  constructor(log: ShutdownLog, drainMs: number, overrunMs = OVERRUN_MS) {
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

/** Resolves with the name of the first SIGTERM or SIGINT; a second one ends the process at once. */
export function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    let stopping = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (stopping) process.exit(1);
        stopping = true;
        resolve(signal);
      });
    }
  });
}

/** Calls `reload` at each SIGHUP, which ends a process that listens to none. */
export function onReloadSignal(reload: () => void): void {
  process.on('SIGHUP', reload);
}

/**
 * A call that hangs in a driver or a file system also blocks the exit of the process: only SIGKILL ends it. `log` must
 * write synchronously: nothing is written after the kill.
 */
export function endAtOnce(log: Pick<ShutdownLog, 'error'>): void {
  const holding = process.getActiveResourcesInfo();
  log.error({ holding }, 'not everything could be stopped: the process is killed');
  process.kill(process.pid, 'SIGKILL');
}
