/** Waits for the end of a job: its events wake it, or a look every few seconds if there are none. */
import { Deadline, pause } from './deadline.js';
import type { EventOptions } from './follow-events.js';
import type { EventGap, JobEvent, JobStatus } from './records.js';
import { ServiceError } from './service-error.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/** Pause between two status calls while events arrive, in case one is missing. */
const SAFETY_MS = 15_000;

export type JobProgress = Pick<
  JobStatus,
  'job_id' | 'status' | 'progress' | 'finished_images' | 'failed_images' | 'image_count'
>;

export interface WaitOptions {
  /** Longest wait; the job goes on after it. */
  deadlineMs?: number | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: (progress: JobProgress) => void;
  /** Called with the reason when the service cannot be asked, and with null when it can again. */
  onConnection?: (lost: ServiceError | null) => void;
}

export interface WaitPort {
  status(jobId: string, options: { signal: AbortSignal }): Promise<JobStatus>;
  events(options: EventOptions): AsyncIterable<JobEvent | EventGap>;
}

/**
 * Returns the record of the ended job. Rejects with `timeout` after the deadline. Goes on waiting while the service is
 * unreachable.
 */
export async function waitForEnd(
  service: WaitPort,
  jobId: string,
  deadlineMs: number,
  options: Omit<WaitOptions, 'deadlineMs'>,
): Promise<JobStatus> {
  const deadline = new Deadline(deadlineMs, options.signal);
  const follower = new JobFollower(service, jobId, options);
  const over = new AbortController();
  const listening = follower.listen(over.signal);
  try {
    return await follower.end(deadline.signal);
  } catch (error) {
    if (!deadline.passed) throw error;
    const detail = `${jobId} had not ended after ${deadline.ms / 1000} s: ${follower.seen}. It goes on.`;
    throw ServiceError.ofClient('timeout', detail, { cause: error });
  } finally {
    over.abort();
    await listening;
  }
}

class JobFollower {
  /** The last known state of the job, for people. */
  seen = 'it was never reached';
  readonly #service: WaitPort;
  readonly #jobId: string;
  readonly #options: Omit<WaitOptions, 'deadlineMs'>;
  #listening = false;
  #reached = true;
  #images: number | null = null;
  #woken = new AbortController();

  constructor(service: WaitPort, jobId: string, options: Omit<WaitOptions, 'deadlineMs'>) {
    this.#service = service;
    this.#jobId = jobId;
    this.#options = options;
  }

  async end(signal: AbortSignal): Promise<JobStatus> {
    let pauseMs = FIRST_PAUSE_MS;
    for (;;) {
      this.#woken = new AbortController();
      const record = await this.#look(signal);
      if (record?.status === 'completed' || record?.status === 'failed') return record;
      await this.#pause(this.#listening ? SAFETY_MS : pauseMs, signal);
      pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS);
    }
  }

  /** Listens until the signal, or until no events can be had. Never rejects. */
  async listen(signal: AbortSignal): Promise<void> {
    const onConnection = (lost: ServiceError | null) => {
      this.#listening = lost === null;
      this.#wake(); // the job may have ended between the last look and now
    };
    try {
      for await (const event of this.#service.events({
        job_ids: [this.#jobId],
        events: ['job_started', 'job_progress', 'job_completed', 'job_failed'],
        signal,
        onConnection,
      })) {
        if (event.event === 'job_progress') this.#tell(event);
        else this.#wake();
      }
    } catch {
      this.#listening = false;
      this.#wake();
    }
  }

  /** Null while the service cannot be asked. */
  async #look(signal: AbortSignal): Promise<JobStatus | null> {
    try {
      const record = await this.#service.status(this.#jobId, { signal });
      this.#images = record.image_count;
      this.#tell(record);
      if (!this.#reached) this.#options.onConnection?.(null);
      this.#reached = true;
      return record;
    } catch (error) {
      if (!(error instanceof ServiceError) || !error.isPassing) throw error;
      this.seen = error.detail.replace(/\.$/, '');
      if (this.#reached) this.#options.onConnection?.(error);
      this.#reached = false;
      return null;
    }
  }

  #tell({
    status,
    progress,
    failed_images,
  }: Pick<JobStatus, 'status' | 'progress' | 'failed_images'>): void {
    if (this.#images === null) return;
    const finished = Math.round(progress * this.#images);
    this.seen = `it is ${status} with ${finished} of ${this.#images} images`;
    this.#options.onProgress?.({
      job_id: this.#jobId,
      status,
      progress,
      finished_images: finished,
      failed_images,
      image_count: this.#images,
    });
  }

  #wake(): void {
    this.#woken.abort();
  }

  /** Rejects with the signal's reason. */
  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const end = AbortSignal.any([signal, this.#woken.signal]);
    await pause(ms, end);
    signal.throwIfAborted();
  }
}
