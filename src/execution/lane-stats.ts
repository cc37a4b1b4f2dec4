/** Several lanes as one device. */
import type { DetectorStats } from '../contract/detector-stats.js';
import type { Lane } from './lane.js';

type LaneStats = Omit<DetectorStats, 'inFlight' | 'completed' | 'failed' | 'imagesPerSecond'>;

export function describeLanes(lanes: readonly Lane[]): LaneStats {
  const stats = lanes.map((lane) => lane.stats());
  const sum = (value: (lane: DetectorStats) => number) =>
    stats.reduce((total, lane) => total + value(lane), 0);
  const distinct = (value: (lane: DetectorStats) => string) =>
    [...new Set(stats.map(value))].join(', ') || 'none';
  return {
    device: distinct(({ device }) => device),
    gpus: sum(({ gpus }) => gpus),
    precision: distinct(({ precision }) => precision),
    reason: stats.length === 1 ? (stats[0]?.reason ?? '') : count(lanes),
    queuedSync: sum(({ queuedSync }) => queuedSync),
    queuedAsync: sum(({ queuedAsync }) => queuedAsync),
    heldBytes: sum(({ heldBytes }) => heldBytes),
    hangingFolders: sum(({ hangingFolders }) => hangingFolders),
    suggestedWindow: Math.max(
      1,
      sum(({ suggestedWindow }) => suggestedWindow),
    ),
  };
}

function count(lanes: readonly Lane[]): string {
  if (lanes.length === 0) return 'no worker';
  const nodes = new Set(lanes.map(({ nodeId }) => nodeId)).size;
  return `${lanes.length} workers on ${nodes} ${nodes === 1 ? 'node' : 'nodes'}`;
}

export type LaneState = 'ready' | 'leaving' | 'unhealthy';

/** What a lane is good for at this moment. */
export function stateOf(lane: Lane): LaneState {
  if (lane.leaving) return 'leaving';
  return lane.unhealthy() === null ? 'ready' : 'unhealthy';
}

export function countByState(lanes: readonly { lane: Lane }[]): Record<LaneState, number> {
  const counts = { ready: 0, leaving: 0, unhealthy: 0 };
  for (const { lane } of lanes) counts[stateOf(lane)] += 1;
  return counts;
}
