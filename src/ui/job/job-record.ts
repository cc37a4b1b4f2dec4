/** One job as it is shown: its record, its figures, and what its buttons do. */
import { batch, computed, effect, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { JobPatch, JobQuestion, JobStatus, JobSummary } from '../../client/records.js';
import { ServiceError } from '../../client/service-error.js';
import { goTo } from '../address/location.js';
import { forgetJob, noteJob } from '../jobs/job-list.js';
import { afterEvent, hasEnded } from '../jobs/job-table.js';
import { followJobs } from '../live/live.js';
import { service } from '../session/session.js';
import { isOwnQuestion } from './question.js';
import { chosenQuestion } from './question-choice.js';

/** Least time between two requests for the figures of a job that runs. */
const PACE_MS = 2_000;
/** Events of one job may come faster than they can be read. */
const DRAW_MS = 250;
/** A slider moves faster than a job can be asked. */
const SETTLE_MS = 120;

export interface JobRecord {
  job: ReadonlySignal<JobStatus | null>;
  /** The figures of the job's own question, with its request. */
  own: ReadonlySignal<JobSummary | null>;
  /** The figures of the question that is shown. */
  summary: ReadonlySignal<JobSummary | null>;
  /** The question that everything on the page shows: the last one that was answered. Null until the first was. */
  asked: ReadonlySignal<JobQuestion | null>;
  /** Why the question of the address is not shown. */
  refusal: ReadonlySignal<unknown>;
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
  readonly own: Signal<JobSummary | null> = signal(null);
  readonly summary: Signal<JobSummary | null> = signal(null);
  readonly asked: Signal<JobQuestion | null> = signal(null);
  readonly refusal: Signal<unknown> = signal(null);
  readonly epoch = signal(0);
  readonly fault: Signal<unknown> = signal(null);
  readonly #jobId: string;
  #latest: JobStatus | null = null;
  #question: JobQuestion = {};
  /** Ends the requests of an earlier question. */
  #askedBefore = new AbortController();
  #drawTimer: ReturnType<typeof setTimeout> | undefined;
  #figuresTimer: ReturnType<typeof setTimeout> | undefined;
  #askTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(jobId: string) {
    this.#jobId = jobId;
  }

  follow(): () => void {
    this.#question = chosenQuestion.peek();
    // Images need not wait for figures.
    if (isOwnQuestion(this.#question)) this.asked.value = this.#question;
    this.#load();
    const unchoose = this.#followChoice();
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
      unchoose();
      this.#askedBefore.abort();
      clearTimeout(this.#askTimer);
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

  /** Asks the question of the address once it has been left as it is. */
  #followChoice(): () => void {
    const text = computed(() => JSON.stringify(chosenQuestion.value));
    return effect(() => {
      clearTimeout(this.#askTimer);
      if (text.value === JSON.stringify(this.#question)) return;
      this.#askTimer = setTimeout(() => {
        this.#question = chosenQuestion.peek();
        this.#askedBefore.abort();
        this.#askedBefore = new AbortController();
        void this.#ask(() => this.#loadFigures());
      }, SETTLE_MS);
    });
  }

  /** A question is shown once its figures have come, so that all of the page is of one question. */
  async #loadFigures(): Promise<void> {
    const question = this.#question;
    const { signal: stop } = this.#askedBefore;
    const isOwn = isOwnQuestion(question);
    try {
      if (!isOwn && this.own.peek() === null) this.own.value = await service.summary(this.#jobId);
      const summary = await service.summary(this.#jobId, { question, signal: stop });
      if (stop.aborted) return;
      batch(() => {
        if (isOwn) this.own.value = summary;
        const isAgain = this.asked.peek() === question && this.summary.peek() !== null;
        if (isAgain) this.epoch.value += 1;
        this.summary.value = summary;
        this.asked.value = question;
        this.refusal.value = null;
      });
    } catch (error) {
      if (stop.aborted) return;
      const isRefusal = error instanceof ServiceError && !error.isPassing;
      if (isOwn || !isRefusal) throw error;
      batch(() => {
        this.refusal.value = error;
        if (this.asked.peek() !== null) return;
        this.summary.value = this.own.peek();
        this.asked.value = {};
      });
    }
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
