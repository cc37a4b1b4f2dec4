/** Notices that workers of a Ray cluster share a node while another node has none. */
import type { ClusterNode } from '../cluster-status.js';

/** Ray and `up` place workers within this time after a node was lost or has joined. */
const SETTLED_MS = 30_000;

export interface PlacedWorker {
  workerId: string;
  /** Ray's id of its node. */
  nodeId: string;
}

export class SharedNodes {
  readonly #settledMs: number;
  #placement = '';
  #since = 0;
  #isTold = false;

  constructor(settledMs = SETTLED_MS) {
    this.#settledMs = settledMs;
  }

  /** Call it at every look at the cluster. Returns a sentence, once for each placement that lasts 30 s; else null. */
  see(nodes: readonly ClusterNode[], workers: readonly PlacedWorker[]): string | null {
    const fault = placementFault(nodes, workers);
    const placement = JSON.stringify([
      fault,
      workers.map(({ workerId, nodeId }) => `${workerId} ${nodeId}`).sort(),
    ]);
    const now = performance.now();
    if (placement !== this.#placement) {
      this.#placement = placement;
      this.#since = now;
      this.#isTold = false;
    }
    if (fault === null || this.#isTold || now - this.#since < this.#settledMs) return null;
    this.#isTold = true;
    return fault;
  }
}

/** The fault of a placement. With GPUs there is none, because Ray counts a GPU for each worker. */
function placementFault(
  nodes: readonly ClusterNode[],
  workers: readonly PlacedWorker[],
): string | null {
  const alive = nodes.filter((node) => node.alive);
  if (alive.some(({ resources }) => (resources.GPU ?? 0) > 0)) return null;
  const on = (nodeId: string) => workers.filter((worker) => worker.nodeId === nodeId);
  const idle = alive.find(
    ({ nodeId, resources }) => (resources.CPU ?? 0) >= 1 && on(nodeId).length === 0,
  );
  const shared = alive.find(({ nodeId }) => on(nodeId).length > 1);
  if (idle === undefined || shared === undefined) return null;
  const sharing = on(shared.nodeId).map(({ workerId }) => workerId);
  return `${sharing.sort().join(', ')} share node ${shared.nodeId}, and node ${idle.nodeId} has no worker`;
}
