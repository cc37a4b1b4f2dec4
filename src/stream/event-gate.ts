/**
 * Keeps events in order while an answer is under way. A submission's own `job_submitted` may come by before or after
 * the submission returns, and stored events may be replayed while new ones arrive: what arrives meanwhile waits.
 */
import type { Job, JobEvent } from '../jobs/job.js';

interface HeldEvent {
  event: JobEvent;
  frame: Buffer;
  /** Released once every ticket up to this one has been handed in. */
  barrier: number;
}

export class EventGate {
  readonly #send: (frame: Buffer) => void;
  readonly #open = new Set<number>();
  #lastTicket = 0;
  #held: HeldEvent[] = [];
  /** Jobs whose submission was answered before their event came by. */
  readonly #answered = new Set<string>();
  #replayedTo = -1;

  constructor(send: (frame: Buffer) => void) {
    this.#send = send;
  }

  get heldCount(): number {
    return this.#held.length;
  }

  /** Sends the event, now or when what was under way before it is done. */
  pass(event: JobEvent, frame: Buffer): void {
    if (this.#open.size === 0) this.#deliver(event, frame);
    else this.#held.push({ event, frame, barrier: this.#lastTicket });
  }

  /** Events from now on wait until the ticket is handed in with `release`. */
  hold(): number {
    this.#lastTicket += 1;
    this.#open.add(this.#lastTicket);
    return this.#lastTicket;
  }

  release(ticket: number): void {
    this.#open.delete(ticket);
    const [oldest = Infinity] = this.#open;
    const count = this.#held.findIndex(({ barrier }) => barrier >= oldest);
    const free = this.#held.splice(0, count === -1 ? this.#held.length : count);
    for (const { event, frame } of free) this.#deliver(event, frame);
  }

  /**
   * Takes the held `job_submitted` of a job, so that the answer can carry it. Null when it has not come by; then it
   * will be dropped when it does, if `expected`.
   */
  claim(job: Job, expected: boolean): JobEvent | null {
    const index = this.#held.findIndex(
      ({ event }) => event.event === 'job_submitted' && event.jobId === job.jobId,
    );
    if (index !== -1) return this.#held.splice(index, 1)[0]?.event ?? null;
    if (expected) this.#answered.add(job.jobId);
    return null;
  }

  /** Stored events up to `seq` were replayed; live copies of them are dropped. */
  replayed(seq: number): void {
    this.#replayedTo = Math.max(this.#replayedTo, seq);
  }

  #deliver(event: JobEvent, frame: Buffer): void {
    if (event.event === 'job_submitted' && this.#answered.delete(event.jobId)) return;
    // job_progress is not stored and repeats the sequence number before it.
    if (event.event !== 'job_progress' && event.seq <= this.#replayedTo) return;
    this.#send(frame);
  }
}
