/** Workers that should be connected and are not, each with the reason, until they are back. */

export interface AbsentWorker {
  workerId: string;
  nodeId: string;
  /** `failed`: it ended at its start again and again, and is not started any more. */
  state: 'lost' | 'refused' | 'failed';
  /** The event and the places to look at, in sentences. */
  reason: string;
}

/** A worker that is refused dials again every 10 s. The place of a lost one may have been given up. */
const KEPT_MS = { refused: 60_000, lost: 3_600_000, failed: Infinity } as const;
/** A program without the token may give any name. */
const MOST = 256;

export class AbsentWorkers {
  /** Absent workers by their ids. */
  readonly #noted = new Map<string, { worker: AbsentWorker; at: number }>();

  note(worker: AbsentWorker): void {
    if (this.#noted.size < MOST || this.#noted.has(worker.workerId))
      this.#noted.set(worker.workerId, { worker, at: performance.now() });
  }

  joined(workerId: string): void {
    this.#noted.delete(workerId);
  }

  list(): AbsentWorker[] {
    const now = performance.now();
    for (const [workerId, { worker, at }] of this.#noted) {
      if (now - at > KEPT_MS[worker.state]) this.#noted.delete(workerId);
    }
    return [...this.#noted.values()].map(({ worker }) => worker);
  }
}
