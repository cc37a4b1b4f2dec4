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

/** Lanes that are not to be chosen. */
export type Refused = ReadonlySet<Lane> | null;

/** The lane with the earliest predicted answer; null when none has room. */
export function laneForSync(lanes: readonly LaneLoad[], refused: Refused = null): LaneLoad | null {
  return least(
    lanes,
    refused,
    ({ sync, lane }) => sync < lane.slots.sync,
    (load) => load.syncFinishMs() + load.inHand * 1e-6,
  );
}

/** The lane with the largest free share of its slots; null when none has room. */
export function laneForAsync(lanes: readonly LaneLoad[], refused: Refused = null): LaneLoad | null {
  return least(
    lanes,
    refused,
    (load) => load.async < load.lane.slots.async,
    (load) => load.async / load.lane.slots.async,
  );
}

/**
 * One of the healthy lanes, of all where none is: one that sees nothing answers quickly and would take all the work
 * that the others have no room for.
 */
function least(
  lanes: readonly LaneLoad[],
  refused: Refused,
  hasRoom: (load: LaneLoad) => boolean,
  cost: (load: LaneLoad) => number,
): LaneLoad | null {
  let best: LaneLoad | null = null;
  let bestCost = Infinity;
  let someHealthy = false;
  for (const load of lanes) {
    if (load.lane.leaving || refused?.has(load.lane) === true) continue;
    // The only lane takes the work however it is, and asking it costs more than the choice.
    const healthy = lanes.length === 1 || load.lane.unhealthy() === null;
    if (someHealthy && !healthy) continue;
    if (healthy && !someHealthy) {
      someHealthy = true;
      best = null;
      bestCost = Infinity;
    }
    if (!hasRoom(load)) continue;
    const own = cost(load);
    if (own < bestCost) {
      best = load;
      bestCost = own;
    }
  }
  return best;
}
