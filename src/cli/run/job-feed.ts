/** Events of the jobs of a run folder at a service, also of those that ended while no event could be had. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ServiceError,
  type JobEvent,
  type JobStatus,
  type LatticeClient,
} from '../../client/lattice-client.js';
import { tellConnection } from '../job/following.js';
import type { Terminal } from '../terminal.js';
import type { RunEvent } from './run-service.js';

/** Pause between two looks at all jobs, in case an event is missing. */
const LOOK_MS = 10_000;

export class JobFeed {
  /** All jobs of the run folder have it. */
  readonly tag: string;
  readonly tellConnection: (lost: ServiceError | null) => void;
  readonly #client: LatticeClient;
  readonly #stop: AbortController;
  readonly #listeners = new Set<(event: RunEvent) => void>();
  readonly #known = new Set<string>();
  /** Last events of jobs whose submission is not answered yet, perhaps. */
  readonly #early = new Map<string, RunEvent>();
  #submissions = 0;
  #isLooking = false;

  constructor(
    client: LatticeClient,
    tag: string,
    { terminal, stop }: { terminal: Terminal; stop: AbortController },
  ) {
    this.#client = client;
    this.tag = tag;
    this.#stop = stop;
    this.tellConnection = tellConnection(terminal);
  }

  /** Resolves as `work`, and follows until then. An error that does not pass ends the run. */
  async follow(work: () => Promise<void>): Promise<void> {
    const over = new AbortController();
    const following = [this.#follow(over.signal), this.#lookAgain(over.signal)].map((each) =>
      each.catch((error: unknown) => {
        if (!over.signal.aborted) this.#stop.abort(error);
      }),
    );
    try {
      await work();
    } finally {
      over.abort();
      await Promise.all(following);
    }
  }

  listen(listener: (event: RunEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  know(jobId: string): void {
    this.#known.add(jobId);
  }

  /** Resolves to the id that `submit` gives: its first events may have come before. */
  async submitted(submit: () => Promise<string>): Promise<string> {
    this.#submissions += 1;
    try {
      const jobId = await submit();
      this.know(jobId);
      const early = this.#early.get(jobId);
      if (early !== undefined) this.#hand(early);
      return jobId;
    } finally {
      this.#submissions -= 1;
      if (this.#submissions === 0) this.#early.clear();
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const onConnection = (lost: ServiceError | null) => {
      this.tellConnection(lost);
      if (lost === null) void this.#look();
    };
    const events = this.#client.events({
      events: ['job_started', 'job_progress', 'job_completed', 'job_failed'],
      ...{ signal, onConnection, keepTrying: true },
    });
    for await (const event of events) {
      if (event.event === 'gap') void this.#look();
      else this.#hand(runEvent(event));
    }
  }

  async #lookAgain(signal: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(LOOK_MS, undefined, { signal });
      await this.#look();
    }
  }

  /** Hands on how the jobs stand. Never rejects. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      for await (const job of this.#client.list({ tag: this.tag })) {
        const event = job.completed_at === null ? 'job_progress' : 'job_completed';
        this.#hand({ event, progress: job.progress, ...progressOfStatus(job) });
      }
    } catch (error) {
      if (!(error instanceof ServiceError) || !error.isPassing) this.#stop.abort(error);
    } finally {
      this.#isLooking = false;
    }
  }

  #hand(event: RunEvent): void {
    if (this.#known.has(event.jobId)) for (const listener of this.#listeners) listener(event);
    else if (this.#submissions > 0) this.#early.set(event.jobId, event);
  }
}

export function progressOfStatus(job: JobStatus) {
  return {
    jobId: job.job_id,
    failedImages: job.failed_images,
    reusedImages: job.reused_images,
  };
}

const runEvent = ({ event, progress, ...job }: JobEvent): RunEvent => ({
  ...{ event, progress },
  jobId: job.job_id,
  failedImages: job.failed_images,
  reusedImages: job.reused_images,
});
