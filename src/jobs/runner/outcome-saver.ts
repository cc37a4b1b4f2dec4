/**
 * Stores outcomes, one call per job at a time; the next call stores those that arrive meanwhile. No caller waits for
 * the outcome of one image, so there is a delay between two calls of a job: a sync per image took 4 % of two cores.
 */
import type { ActiveJob } from './active-job.js';
import type { ImageOutcome } from '../job.js';
import type { JobStore } from '../store/job-store.js';
import type { Patience } from './patience.js';
import type { ProgressReports } from './progress-reports.js';
import type { QueueCounts } from '../queue-counts.js';

/** Between two calls of a job. After a crash at most the images of this time run again. */
const BATCH_DELAY_MS = 50;

export interface SaverParts {
  store: JobStore;
  counts: QueueCounts;
  patience: Patience;
  progress: ProgressReports;
}

export class OutcomeSaver {
  readonly #parts: SaverParts;
  #staleRefused = 0;

  constructor(parts: SaverParts) {
    this.#parts = parts;
  }

  get staleRefused(): number {
    return this.#staleRefused;
  }

  add(job: ActiveJob, index: number, outcome: ImageOutcome, workerId: string): void {
    if (job.ended) return;
    job.workerId = workerId;
    job.unsaved.push({ index, ok: outcome.status === 'ok', outcome: JSON.stringify(outcome) });
    if (isLast(job)) job.hurry();
  }

  /**
   * Resolves once nothing of the job is unsaved; true when the job is over for this process. Rejects as
   * `Patience.insist` does.
   */
  async save(job: ActiveJob): Promise<boolean> {
    const { store, counts, patience, progress } = this.#parts;
    if (job.saving) return false;
    job.saving = true;
    let over = false;
    while (job.unsaved.length > 0 && !job.ended && !over) {
      await waitForBatch(job);
      if (job.unsaved.length === 0) break; // ended meanwhile
      const batch = job.unsaved;
      job.unsaved = [];
      const recorded = await patience.insist('record', () =>
        store.record(job.number, job.lease, batch, job.workerId, Date.now() / 1000),
      );
      if (recorded === null) break;
      job.savedAt = performance.now();
      const { kind, stored, finishedImages, failedImages, terminal } = recorded.value;
      counts.recorded(stored);
      job.finishedImages = finishedImages;
      job.failedImages = failedImages;
      if (kind === 'stale') this.#staleRefused += 1;
      if (terminal) counts.finished();
      over = terminal || kind !== 'stored';
      if (!over) progress.changed(job);
    }
    job.saving = false;
    return over;
  }
}

/** With these outcomes the job is finished. */
function isLast(job: ActiveJob): boolean {
  return job.finishedImages + job.unsaved.length >= job.imageCount;
}

async function waitForBatch(job: ActiveJob): Promise<void> {
  const wait = job.savedAt + BATCH_DELAY_MS - performance.now();
  if (wait <= 0 || isLast(job)) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, wait);
    job.hurry = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}
