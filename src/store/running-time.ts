/**
 * How long the store has been in use, over all runs: a clock that nobody sets and that stands while the service is
 * stopped. After a crash it lacks at most the time since the last sweep. Things kept by this clock are then kept
 * longer, never shorter.
 */
import type { Statements } from './statements.js';

export class RunningTime {
  readonly #statements: Statements;
  /** Running time of the store before this process's `running` was 0. */
  #ranBefore: number | null = null;
  /** The running time in seconds at `#readAt`. */
  #total: number | null = null;
  #readAt = 0;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** `running`: seconds since a fixed moment of this process. */
  advance(running: number): number {
    this.#ranBefore ??= this.#stored() - running;
    this.#total = this.#ranBefore + running;
    this.#readAt = performance.now();
    return this.#total;
  }

  /** Now, in seconds. */
  get seconds(): number {
    return (this.#total ?? this.#stored()) + this.#sinceRead();
  }

  #sinceRead(): number {
    return this.#total === null ? 0 : (performance.now() - this.#readAt) / 1000;
  }

  #stored(): number {
    const last = this.#statements.get('SELECT max(until_s) AS untilS FROM clock_marks') as {
      untilS: number | null;
    };
    return last.untilS ?? 0;
  }
}
