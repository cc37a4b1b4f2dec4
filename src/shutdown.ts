/** Takes a service apart in the reverse order of its assembly. */
export interface ShutdownLog {
  debug(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Beyond the drain time, for what cannot be broken off. */
export const OVERRUN_MS = 10_000;

export class Releases {
  readonly #log: ShutdownLog;
  readonly #mostMs: number;
  readonly #entries: { name: string; release: () => void | Promise<void> }[] = [];

  /** `mostMs`: a part that takes longer is left as it is. */
  constructor(log: ShutdownLog, mostMs: number) {
    this.#log = log;
    this.#mostMs = mostMs;
  }

  add(name: string, release: () => void | Promise<void>): void {
    this.#entries.push({ name, release });
  }

  /**
   * Last in, first out. One that fails or hangs is logged and does not keep the others. False when one hangs;
   * never rejects.
   */
  async releaseAll(): Promise<boolean> {
    let all = true;
    for (let entry = this.#entries.pop(); entry !== undefined; entry = this.#entries.pop()) {
      const { name, release } = entry;
      try {
        const inTime = await withinMs(this.#mostMs, release);
        if (inTime) this.#log.debug({ part: name }, 'released');
        else this.#log.error({ part: name, mostMs: this.#mostMs }, 'release hangs');
        all &&= inTime;
      } catch (error) {
        this.#log.error({ part: name, error: String(error) }, 'release failed');
      }
    }
    return all;
  }
}

/** False when the work has not ended by then. */
async function withinMs(ms: number, work: () => void | Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const done = (async () => {
    await work();
    return true;
  })();
  try {
    return await Promise.race([done, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What hangs, in a driver or a file system, also hangs the exit of a process: only the kernel ends that. */
export function endAtOnce(log: Pick<ShutdownLog, 'error'>): void {
  const holding = process.getActiveResourcesInfo();
  log.error({ holding }, 'not everything could be stopped: the process is killed');
  process.kill(process.pid, 'SIGKILL');
}
