/** Which lane runs the next image: what each has in hand, and how long its images took. */
import type { Lane } from './lane.js';

/** Weight of the newest duration in the mean. */
const NEWEST = 0.2;

/** A lane as the dispatcher sees it. */
export class LaneLoad {
  readonly lane: Lane;
  sync = 0;
  async = 0;
  completed = 0;
  /** Mean duration of its synchronous images in milliseconds; 0 before the first. */
  #syncMs = 0;

  constructor(lane: Lane) {
    this.lane = lane;
  }

  get inHand(): number {
    return this.sync + this.async;
  }

  measured(ms: number): void {
    this.#syncMs = this.#syncMs === 0 ? ms : this.#syncMs + NEWEST * (ms - this.#syncMs);
  }

  /** When a synchronous image handed out now would be answered, in milliseconds; a slice of jobs delays it by half. */
  syncFinishMs(): number {
    return this.#syncMs * (1 + this.sync + (this.async > 0 ? 0.5 : 0));
  }
}

/** The lane with the earliest predicted answer; null when none has room. */
export function laneForSync(lanes: readonly LaneLoad[]): LaneLoad | null {
  return least(
    lanes,
    ({ sync, lane }) => sync < lane.slots.sync,
    (load) => load.syncFinishMs() + load.inHand * 1e-6,
  );
}

/** The lane with the largest free share of its slots; null when none has room. */
export function laneForAsync(lanes: readonly LaneLoad[]): LaneLoad | null {
  return least(
    lanes,
    (load) => load.async < load.lane.slots.async,
    (load) => load.async / load.lane.slots.async,
  );
}

/** Healthy lanes first: one that sees nothing answers quickly and would take all the work. */
function least(
  lanes: readonly LaneLoad[],
  hasRoom: (load: LaneLoad) => boolean,
  cost: (load: LaneLoad) => number,
): LaneLoad | null {
  let best: LaneLoad | null = null;
  let bestCost = Infinity;
  let bestHealthy = false;
  for (const load of lanes) {
    if (load.lane.leaving || !hasRoom(load)) continue;
    // The only lane takes the work however it is, and asking it costs more than the choice.
    const healthy = lanes.length === 1 || load.lane.unhealthy() === null;
    if (bestHealthy && !healthy) continue;
    const own = cost(load);
    if ((healthy && !bestHealthy) || own < bestCost) {
      best = load;
      bestCost = own;
      bestHealthy = healthy;
    }
  }
  return best;
}
