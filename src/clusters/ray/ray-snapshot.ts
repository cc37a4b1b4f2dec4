/** The state of a Ray cluster, as its head reports it. */
import { z } from 'zod';
import type { ClusterNode } from '../cluster-status.js';
import { NoAnswer, RayFailure } from './ray-failure.js';
import type { ClusterInfoResponse, ClusterInfoType } from './ray-protocol.js';
import type { RaySession } from './ray-session.js';

/** Resource name -> amount. Ray leaves a name out where nothing of it is there or free. */
export type Resources = Record<string, number>;

export interface Told<Value> {
  value: Value;
  /** `performance.now()` when the answer came. */
  at: number;
}

/** The newest answer to each question; null before the first. */
export interface RaySnapshot {
  /** Every node that ever was; the dead stay, without resources. */
  nodes: Told<ClusterNode[]> | null;
  total: Told<Resources> | null;
  available: Told<Resources> | null;
}

export const NOTHING_TOLD: RaySnapshot = { nodes: null, total: null, available: null };

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

/**
 * Asks three questions at once. A question without an answer keeps the one that `known` has: Ray's store may be slow
 * with one of them. Rejects with a `RayFailure`, with `NoAnswer` when the head answers nothing at all.
 */
export async function takeSnapshot(
  session: RaySession,
  deadlineMs: number,
  known: RaySnapshot = NOTHING_TOLD,
): Promise<RaySnapshot> {
  const ask = async <Value>(
    type: ClusterInfoType,
    read: (response: ClusterInfoResponse) => Value,
  ): Promise<Told<Value> | NoAnswer> => {
    try {
      const value = read(await session.ask(type, deadlineMs));
      return { value, at: performance.now() };
    } catch (thrown) {
      if (thrown instanceof NoAnswer) return thrown;
      throw thrown;
    }
  };
  const [nodes, total, available, head] = await Promise.all([
    ask('NODES', readNodes),
    ask('CLUSTER_RESOURCES', readTable),
    ask('AVAILABLE_RESOURCES', readTable),
    // Answered without Ray's store: the head is there, and a new session would be no quicker.
    ask('PING', () => null),
  ]);
  const told = [nodes, total, available].filter((answer) => !(answer instanceof NoAnswer));
  if (head instanceof NoAnswer && told.length === 0) throw head;
  return {
    nodes: nodes instanceof NoAnswer ? known.nodes : nodes,
    total: total instanceof NoAnswer ? known.total : total,
    available: available instanceof NoAnswer ? known.available : available,
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
