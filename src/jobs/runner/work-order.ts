/** Which job is started next and whose image is handed out next. Decides only; the runner acts. */
import type { ActiveJob } from './active-job.js';
import { monotonicSeconds, pickNext, rankOf, type Rank, type Ranked } from '../priority.js';
import { WaitingLine, type WaitingJob } from './waiting-line.js';

export type { WaitingJob };

/** Jobs whose volume does not answer stay started, and every one of them is looked at for each image. */
const MOST_STARTED = 1_000;

export class WorkOrder {
  /** Not started. */
  readonly waiting = new WaitingLine();
  /** Started and not ended, by number. */
  readonly active = new Map<number, ActiveJob>();
  readonly #ageingSeconds: number;
  #agedTurn = false;

  constructor(ageingSeconds: number) {
    this.#ageingSeconds = ageingSeconds;
  }

  /**
   * Takes the next job out of the line; null while the active jobs have `supply` images that go before its own.
   * Raised jobs are looked at apart, or the others of their level would leave them none of the turns.
   */
  takeToStart(supply: number): WaitingJob | null {
    if (this.active.size >= MOST_STARTED) return null;
    const rank = this.#ranks();
    const heads = this.waiting.heads();
    for (const aged of [false, true]) {
      const kind = heads.filter((job) => rank(job).aged === aged);
      const next = pickNext(kind, aged, rank);
      if (next === null || this.#supplyBefore(rank(next), rank) >= supply) continue;
      return this.waiting.take(next.number);
    }
    return null;
  }

  /** The job whose image is due; null when no image is at hand. */
  next(): { job: ActiveJob; rank: Rank } | null {
    const rank = this.#ranks();
    const ready = [...this.active.values()].filter((job) => job.ahead.length > 0);
    const job = pickNext(ready, this.#agedTurn, rank);
    return job === null ? null : { job, rank: rank(job) };
  }

  /** An image of such a job was handed out: the other kind has the next turn. */
  handedOut({ aged }: Rank): void {
    this.#agedTurn = !aged;
  }

  #supplyBefore({ level, aged }: Rank, rank: (job: Ranked) => Rank): number {
    let supply = 0;
    for (const job of this.active.values()) {
      const own = rank(job);
      if (own.level > level || (own.level === level && own.aged === aged)) supply += job.supply;
    }
    return supply;
  }

  #ranks(): (job: Ranked) => Rank {
    const now = monotonicSeconds();
    return (job) => rankOf(job, now, this.#ageingSeconds);
  }
}
