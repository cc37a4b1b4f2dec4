/** Takes a service apart in the reverse order of its assembly. */
export interface ShutdownLog {
  debug(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export class Releases {
  readonly #log: ShutdownLog;
  readonly #entries: { name: string; release: () => void | Promise<void> }[] = [];

  constructor(log: ShutdownLog) {
    this.#log = log;
  }

  add(name: string, release: () => void | Promise<void>): void {
    this.#entries.push({ name, release });
  }

  /** Last in, first out. One that fails is logged and does not keep the others; never rejects. */
  async releaseAll(): Promise<void> {
    for (let entry = this.#entries.pop(); entry !== undefined; entry = this.#entries.pop()) {
      try {
        await entry.release();
        this.#log.debug({ part: entry.name }, 'released');
      } catch (error) {
        this.#log.error({ part: entry.name, error: String(error) }, 'release failed');
      }
    }
  }
}
