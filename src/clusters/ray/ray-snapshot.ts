/** The state of a Ray cluster at one moment, as its head reports it. */
import { z } from 'zod';
import type { ClusterNode } from '../cluster-status.js';
import { RayFailure } from './ray-failure.js';
import type { ClusterInfoResponse } from './ray-protocol.js';
import type { RaySession } from './ray-session.js';

/** Resource name -> amount. Ray leaves a name out where nothing of it is there or free. */
export type Resources = Record<string, number>;

export interface RaySnapshot {
  /** `performance.now()` when the last answer came. */
  takenAt: number;
  /** Every node that ever was; the dead stay, without resources. */
  nodes: ClusterNode[];
  total: Resources;
  available: Resources;
}

const nodeList = z.array(
  z
    .object({
      NodeID: z.string(),
      Alive: z.boolean(),
      Resources: z.record(z.string(), z.number()).default({}),
    })
    .transform(({ NodeID, Alive, Resources }): ClusterNode => ({
      nodeId: NodeID,
      alive: Alive,
      resources: Resources,
    })),
);

/** Asks three questions at once. Rejects with a `RayFailure`. */
export async function takeSnapshot(session: RaySession, deadlineMs: number): Promise<RaySnapshot> {
  const [nodes, total, available] = await Promise.all([
    session.ask('NODES', deadlineMs),
    session.ask('CLUSTER_RESOURCES', deadlineMs),
    session.ask('AVAILABLE_RESOURCES', deadlineMs),
  ]);
  return {
    nodes: readNodes(nodes),
    total: readTable(total),
    available: readTable(available),
    takenAt: performance.now(),
  };
}

function readNodes({ json }: ClusterInfoResponse): ClusterNode[] {
  try {
    return nodeList.parse(JSON.parse(json ?? ''));
  } catch (error) {
    throw new RayFailure('session lost: the list of nodes cannot be read', error);
  }
}

function readTable({ type, resource_table: answer }: ClusterInfoResponse): Resources {
  if (answer === undefined) {
    throw new RayFailure(`session lost: ${type} was answered with something else`);
  }
  return answer.table ?? {};
}
