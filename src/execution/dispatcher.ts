/**
 * Hands each image to the lane that will answer it soonest, at most as many as the lane has slots, so that the
 * order of waiting images stays here. Images of a lost lane are handed out again. Lives on the main thread; a
 * request costs a few microseconds.
 */
import { setMaxListeners } from 'node:events';
import { LatticeError, toLatticeError, type ErrorCode } from '../errors.js';
import type { ImageResult } from '../contract/image-result.js';
import type { DetectRequest } from './detector.js';
import { DispatchQueue } from './dispatch-queue.js';
import { LaneLost, type Lane } from './lane.js';
import { laneForAsync, laneForSync, LaneLoad, type Refused } from './lane-choice.js';
import { cancelled, Task } from './task.js';

/** Lost lanes that an image survives: of a job, and one whose caller waits. */
const ASYNC_LOSSES = 2;
const SYNC_LOSSES = 1;
const LANE_GRACE_MS = 100;
/** They say how the lane is, not the image: its node lost a volume, its device is not right, it builds an engine. */
const OF_THE_LANE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'volume_unavailable',
  'model_not_ready',
  'gpu_lost',
  'gpu_unavailable',
]);

interface Taker {
  choose: (lanes: readonly LaneLoad[], refused?: Refused) => LaneLoad | null;
  take: () => Task | null;
}

export interface LaneReport {
  lane: Lane;
  inHand: number;
  completed: number;
}

export class Dispatcher {
  readonly #whyNoLane: () => string;
  readonly #queue = new DispatchQueue();
  #lanes: LaneLoad[] = [];
  #requeued = 0;
  readonly #takers: Record<'sync' | 'async', Taker> = {
    sync: { choose: laneForSync, take: () => this.#queue.takeSync() },
    async: { choose: laneForAsync, take: () => this.#queue.takeAsync() },
  };
  #closed: Promise<void> | null = null;

  /** `whyNoLane` explains an answer that nobody gave: a sentence. */
  constructor(whyNoLane: () => string) {
    this.#whyNoLane = whyNoLane;
  }

  get waiting(): { sync: number; async: number } {
    return { sync: this.#queue.syncSize, async: this.#queue.asyncSize };
  }

  /** Images handed out again because their lane was lost. */
  get requeued(): number {
    return this.#requeued;
  }

  lanes(): LaneReport[] {
    return this.#lanes.map(({ lane, inHand, completed }) => ({ lane, inHand, completed }));
  }

  /** The lane gets work from now on. */
  join(lane: Lane): void {
    this.#lanes = [...this.#lanes, new LaneLoad(lane)];
    this.#pump();
  }

  /** The lane gets no more work. Call it before a lost lane rejects what it had in hand. */
  leave(lane: Lane): void {
    this.#lanes = this.#lanes.filter((load) => load.lane !== lane);
  }

  /** A lane has other slots than before, or became healthy. */
  refresh(): void {
    this.#pump();
  }

  /** The lane for a question about models; null without one. */
  laneToAsk(): Lane | null {
    return (laneForSync(this.#lanes) ?? this.#lanes[0])?.lane ?? null;
  }

  /** Why no image can be run: there is no lane. */
  noLane(): LatticeError | null {
    if (this.#lanes.length > 0) return null;
    return new LatticeError('cluster_unavailable', `No worker. ${this.#whyNoLane()}`);
  }

  /** Rejects with the codes of `Detector.detect`, and `worker_lost`. */
  run(request: DetectRequest): Promise<ImageResult> {
    if (this.#closed !== null) return Promise.reject(shuttingDown());
    if (request.signal?.aborted === true) return Promise.reject(cancelled());
    // One signal stands for all images of a job: many listeners are no leak.
    if (request.signal !== undefined) setMaxListeners(0, request.signal);
    return new Promise((resolve, reject) => {
      const task = new Task(request, resolve, reject);
      task.watch(
        () => {
          // In a lane, the lane hears the same signal and answers.
          if (task.waiting) this.#giveUp(task, cancelled());
        },
        () => {
          if (task.waiting) this.#giveUp(task, this.#late(task));
          // A lane answers deadlines by itself; this is for one that does not.
          else {
            task.onTimeout(LANE_GRACE_MS, () => {
              this.#giveUp(task, this.#late(task));
            });
          }
        },
      );
      this.#queue.add(task, false);
      this.#pump();
    });
  }

  #pump(): void {
    const { sync, async } = this.#takers;
    while (this.#queue.syncSize > 0 && this.#handOutNext(sync)) continue;
    while (this.#queue.asyncSize > 0 && this.#handOutNext(async)) continue;
  }

  /** False when no lane has room for the image whose turn it is. */
  #handOutNext({ choose, take }: Taker): boolean {
    const free = choose(this.#lanes);
    const task = free === null ? null : take();
    if (free === null || task === null) return false;
    const load = task.refusals === null ? free : choose(this.#lanes, task.refusals.lanes);
    if (load !== null) {
      void this.#handOut(task, load);
      return true;
    }
    const refusal = this.#refusalOfAll(task);
    if (refusal === null) this.#queue.add(task, true);
    else task.reject(refusal);
    return refusal !== null;
  }

  /** Null while there is a lane that has not refused it. */
  #refusalOfAll({ refusals }: Task): LatticeError | null {
    if (refusals === null) return null;
    const open = this.#lanes.some(({ lane }) => !lane.leaving && !refusals.lanes.has(lane));
    return open ? null : refusals.last;
  }

  async #handOut(task: Task, load: LaneLoad): Promise<void> {
    const kind = task.request.class;
    const handedOutAt = performance.now();
    load[kind] += 1;
    try {
      const result = await load.lane.run(task.forLane());
      const now = performance.now();
      load.completed += 1;
      if (kind === 'sync') load.measured(now - handedOutAt);
      task.resolve(withWait(result, handedOutAt - task.arrivedAt, now - task.arrivedAt));
    } catch (thrown) {
      if (thrown instanceof LaneLost) this.#lost(task, load.lane);
      else this.#failed(task, load.lane, toLatticeError(thrown));
    } finally {
      load[kind] -= 1;
      this.#pump();
    }
  }

  /** An image that its lane cannot run as it is now may run on another one. */
  #failed(task: Task, lane: Lane, error: LatticeError): void {
    if (!OF_THE_LANE.has(error.code) || task.answered) {
      task.reject(error);
      return;
    }
    task.refuse(lane, error);
    const end = this.#refusalOfAll(task) ?? this.#whyOver(task);
    if (end === null) this.#queue.add(task, true);
    else task.reject(end);
  }

  #lost(task: Task, lane: Lane): void {
    if (task.answered) return;
    task.losses += 1;
    const over = this.#whyOver(task);
    if (over !== null) task.reject(over);
    else if (task.losses > (task.request.class === 'sync' ? SYNC_LOSSES : ASYNC_LOSSES)) {
      task.reject(workerLost(task.losses, lane));
    } else {
      this.#requeued += 1;
      this.#queue.add(task, true);
    }
  }

  /** Why no image is handed out again; null when it may be. */
  #whyOver({ request }: Task): LatticeError | null {
    if (request.signal?.aborted === true) return cancelled();
    return this.#closed === null ? null : shuttingDown();
  }

  #giveUp(task: Task, error: LatticeError): void {
    this.#queue.drop(task);
    task.reject(error);
  }

  #late(task: Task): LatticeError {
    const { deadlineMs } = task.request;
    if (this.#lanes.length > 0 || !task.waiting) {
      return new LatticeError('deadline_exceeded', `No result within ${deadlineMs ?? 0} ms.`);
    }
    return new LatticeError('detection_failed', `No worker. ${this.#whyNoLane()}`);
  }

  /** Refuses what waits, closes the lanes. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    for (;;) {
      const task = this.#queue.takeSync() ?? this.#queue.takeAsync();
      if (task === null) break;
      task.reject(shuttingDown());
    }
    await Promise.all(this.#lanes.map(({ lane }) => lane.close()));
  }
}

/** Times as the caller saw them: a lane knows nothing of the wait before it. */
function withWait(result: ImageResult, waitedMs: number, totalMs: number): ImageResult {
  const timingsMs = { ...result.timingsMs, queue: toMicros(result.timingsMs.queue + waitedMs) };
  return { ...result, timingsMs, processingTimeMs: toMicros(totalMs) };
}

const toMicros = (ms: number) => Math.round(ms * 1e3) / 1e3;

function workerLost(losses: number, { workerId, nodeId }: Lane): LatticeError {
  return new LatticeError(
    'worker_lost',
    `${losses} workers were lost with this image in hand, ${workerId} on node ${nodeId} last.`,
  );
}

export function shuttingDown(): LatticeError {
  return new LatticeError('shutting_down', 'The detector is stopping.');
}
