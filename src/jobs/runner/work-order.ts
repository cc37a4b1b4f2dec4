/** Decides which job is started next and whose image is handed out next. The runner acts on it. */
import { TOP_PRIORITY } from '../../api/options.js';
import type { ActiveJob, WaitingJob } from './active-job.js';
import type { QueuedJob } from '../../store/job-records.js';
import {
  monotonicSeconds,
  pickNext,
  rankOf,
  waitingSince,
  type Rank,
  type Ranked,
} from '../priority.js';

/** Jobs whose volume does not answer stay started, and each hand-out of an image examines all of them. */
const MOST_STARTED = 1_000;

/** Not yet a `WaitingJob`: to copy each job of a long queue takes three times as long and half as much memory again. */
interface InLine {
  job: QueuedJob;
  since: number;
}

/** Jobs that have not started, by priority. Only the first of each priority can be next, whatever its age. */
class WaitingLine {
  readonly #lines = Array.from({ length: TOP_PRIORITY + 1 }, () => new Map<number, InLine>());

  add(job: QueuedJob): void {
    const priority = Math.min(TOP_PRIORITY, Math.max(0, job.priority));
    this.#lines[priority]?.set(job.number, { job, since: waitingSince(job.submittedAt) });
  }

  /** Takes a job out; null when it does not wait. */
  take(jobNumber: number): WaitingJob | null {
    for (const line of this.#lines) {
      const inLine = line.get(jobNumber);
      if (inLine === undefined) continue;
      line.delete(jobNumber);
      return toWaiting(inLine);
    }
    return null;
  }

  /** The first job of each priority. */
  heads(): WaitingJob[] {
    const heads: WaitingJob[] = [];
    for (const line of this.#lines) {
      if (line.size === 0) continue;
      const [first] = line.values();
      if (first !== undefined) heads.push(toWaiting(first));
    }
    return heads;
  }
}

function toWaiting({ job, since }: InLine): WaitingJob {
  return { ...job, waitingSince: since };
}

export class WorkOrder {
  /** Jobs that have not started. */
  readonly waiting = new WaitingLine();
  /** Jobs that have started and not ended, by number. */
  readonly active = new Map<number, ActiveJob>();
  readonly #ageingSeconds: number;
  #agedTurn = false;

  constructor(ageingSeconds: number) {
    this.#ageingSeconds = ageingSeconds;
  }

  /**
   * Takes the next job that waits; null while the active jobs have `supply` images that go before its own.
   * Raised jobs are considered separately, or the others of their level would always come first.
   */
  takeToStart(supply: number): WaitingJob | null {
    if (this.active.size >= MOST_STARTED) return null;
    const heads = this.waiting.heads();
    if (heads.length === 0) return null;
    const rank = this.#ranks();
    for (const aged of [false, true]) {
      const kind = heads.filter((job) => rank(job).aged === aged);
      const next = pickNext(kind, aged, rank);
      if (next === null || this.#supplyBefore(rank(next), rank) >= supply) continue;
      return this.waiting.take(next.number);
    }
    return null;
  }

  /** The job whose image is next; null if no image is ready. */
  next(): { job: ActiveJob; rank: Rank } | null {
    const rank = this.#ranks();
    const ready = [...this.active.values()].filter((job) => job.isReady);
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
      const { supply: more } = job;
      // Most jobs of one image only wait until their outcome is stored.
      if (more === 0) continue;
      const own = rank(job);
      if (own.level > level || (own.level === level && own.aged === aged)) supply += more;
    }
    return supply;
  }

  #ranks(): (job: Ranked) => Rank {
    const now = monotonicSeconds();
    return (job) => rankOf(job, now, this.#ageingSeconds);
  }
}
