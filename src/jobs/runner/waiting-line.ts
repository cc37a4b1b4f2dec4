/** Jobs that have not started, by priority. Only the first of each priority can be next, whatever its age. */
import type { QueuedJob } from '../job-store.js';
import { TOP_PRIORITY, waitingSince, type Ranked } from '../priority.js';

export type WaitingJob = QueuedJob & Ranked;

export class WaitingLine {
  readonly #lines = Array.from({ length: TOP_PRIORITY + 1 }, () => new Map<number, WaitingJob>());
  readonly #priorities = new Map<number, number>();

  get size(): number {
    return this.#priorities.size;
  }

  add(job: QueuedJob): void {
    const priority = Math.min(TOP_PRIORITY, Math.max(0, job.priority));
    this.#lines[priority]?.set(job.number, { ...job, waitingSince: waitingSince(job.submittedAt) });
    this.#priorities.set(job.number, priority);
  }

  /** Takes a job out; null when it is not in line. */
  take(jobNumber: number): WaitingJob | null {
    const priority = this.#priorities.get(jobNumber);
    if (priority === undefined) return null;
    const job = this.#lines[priority]?.get(jobNumber) ?? null;
    this.#lines[priority]?.delete(jobNumber);
    this.#priorities.delete(jobNumber);
    return job;
  }

  /** The first job of each priority. */
  heads(): WaitingJob[] {
    return this.#lines.flatMap((line) => {
      const first = line.values().next();
      return first.done === true ? [] : [first.value];
    });
  }
}
