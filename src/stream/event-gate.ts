/**
 * Keeps events in order while an answer is in progress: events that arrive meanwhile wait. The `job_submitted` of a
 * submission may arrive before or after the submission returns, and new events arrive while stored ones are replayed.
 */
import { JOB_EVENTS } from '../api/events.js';
import type { Job, JobEvent } from '../store/job.js';

interface HeldEvent {
  event: JobEvent;
  frame: Buffer;
  /** Sent once every ticket up to this one is released. */
  barrier: number;
}

export class EventGate {
  readonly #send: (frame: Buffer) => void;
  readonly #open = new Set<number>();
  #lastTicket = 0;
  #held: HeldEvent[] = [];
  /** Jobs whose submission was answered before their event arrived. */
  readonly #answered = new Set<string>();
  #replayedTo = -1;

  constructor(send: (frame: Buffer) => void) {
    this.#send = send;
  }

  get heldCount(): number {
    return this.#held.length;
  }

  /** Sends the event, now or when the answers that began before it are complete. */
  pass(event: JobEvent, frame: Buffer): void {
    if (this.#open.size === 0) this.#deliver(event, frame);
    else this.#held.push({ event, frame, barrier: this.#lastTicket });
  }

  /** Later events wait until the returned ticket is released. */
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
   * Takes the waiting `job_submitted` of a job for use as the answer. Null when it has not arrived; if `expected`, it
   * is then dropped when it arrives.
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
    if (JOB_EVENTS[event.event].stored && event.seq <= this.#replayedTo) return;
    this.#send(frame);
  }
}
