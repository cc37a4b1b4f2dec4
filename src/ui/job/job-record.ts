/** One job as it is shown: its record, its figures, and what its buttons do. */
import { signal, type ReadonlySignal, type Signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { JobPatch, JobStatus, JobSummary } from '../../client/records.js';
import { goTo } from '../address/location.js';
import { forgetJob, noteJob } from '../jobs/job-list.js';
import { afterEvent, hasEnded } from '../jobs/job-table.js';
import { followJobs } from '../live/live.js';
import { service } from '../session/session.js';

/** Least time between two requests for the figures of a job that runs. */
const PACE_MS = 2_000;
/** Events of one job may come faster than they can be read. */
const DRAW_MS = 250;

export interface JobRecord {
  job: ReadonlySignal<JobStatus | null>;
  summary: ReadonlySignal<JobSummary | null>;
  /** Grows when the images of the job have changed. */
  epoch: ReadonlySignal<number>;
  fault: ReadonlySignal<unknown>;
  cancel: () => void;
  retry: (images: 'failed' | 'all') => void;
  /** False: it was refused, for the reason in `fault`. */
  edit: (labels: JobPatch) => Promise<boolean>;
  /** Deletes the job with its results for good. */
  remove: () => void;
}

class LiveJob implements JobRecord {
  readonly job: Signal<JobStatus | null> = signal(null);
  readonly summary: Signal<JobSummary | null> = signal(null);
  readonly epoch = signal(0);
  readonly fault: Signal<unknown> = signal(null);
  readonly #jobId: string;
  #latest: JobStatus | null = null;
  #drawTimer: ReturnType<typeof setTimeout> | undefined;
  #figuresTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(jobId: string) {
    this.#jobId = jobId;
  }

  follow(): () => void {
    this.#load();
    const unfollow = followJobs({
      onEvent: (event) => {
        if (event.job_id !== this.#jobId || this.#latest === null) return;
        const before = this.#latest;
        this.#latest = afterEvent(before, event);
        if (hasEnded(this.#latest) && !hasEnded(before)) this.#load();
        else this.#drawSoon();
      },
      onUnknownPast: () => this.#load(),
    });
    return () => {
      unfollow();
      clearTimeout(this.#drawTimer);
      clearTimeout(this.#figuresTimer);
    };
  }

  cancel = (): void => {
    void this.#ask(async () => {
      this.#show(await service.cancel(this.#jobId));
      await this.#loadFigures();
    });
  };

  retry = (images: 'failed' | 'all'): void => {
    void this.#ask(async () => {
      const { job_id } = await service.retry(this.#jobId, { images });
      goTo({ screen: 'job', jobId: job_id });
    });
  };

  edit = (labels: JobPatch): Promise<boolean> =>
    this.#ask(async () => {
      const job = await service.edit(this.#jobId, labels);
      this.#show(job);
      noteJob(job);
    });

  remove = (): void => {
    void this.#ask(async () => {
      await service.remove(this.#jobId);
      forgetJob(this.#jobId);
      goTo({ screen: 'jobs' });
    });
  };

  #load(): void {
    void this.#ask(async () => {
      this.#show(await service.status(this.#jobId));
      await this.#loadFigures();
    });
  }

  async #loadFigures(): Promise<void> {
    this.summary.value = await service.summary(this.#jobId);
    this.epoch.value += 1;
  }

  #show(job: JobStatus): void {
    this.#latest = job;
    this.job.value = job;
  }

  #drawSoon(): void {
    this.#drawTimer ??= setTimeout(() => {
      this.#drawTimer = undefined;
      this.job.value = this.#latest;
    }, DRAW_MS);
    this.#figuresTimer ??= setTimeout(() => {
      this.#figuresTimer = undefined;
      void this.#ask(() => this.#loadFigures());
    }, PACE_MS);
  }

  async #ask(call: () => Promise<void>): Promise<boolean> {
    try {
      await call();
      this.fault.value = null;
      return true;
    } catch (error) {
      this.fault.value = error;
      return false;
    }
  }
}

export function useJobRecord(jobId: string): JobRecord {
  const record = useMemo(() => new LiveJob(jobId), [jobId]);
  useEffect(() => record.follow(), [record]);
  return record;
}
