/** Rounds of `lattice run` and of loops in Python as tables: each side's rate, and ours by it. */
import { spread } from '../peers/round-figures.js';
import type { Row } from '../tables.js';

export const OURS = 'lattice run';

/** One call over the photos. */
export interface CallFigures {
  /** In all photos together. */
  boxes: number;
  /** Images per second as the call itself tells it: without its start and its end. */
  told: number;
  /** Images per second of the whole command. */
  whole: number;
}

/** By the name of the side; all sides within a short time. */
export type LoopRound = ReadonlyMap<string, CallFigures>;

export function loopRows(rounds: readonly LoopRound[], figure: 'told' | 'whole'): Row[] {
  const of = (side: string) => rounds.map((round) => round.get(side)![figure]);
  const ours = of(OURS);
  return [...(rounds[0]?.keys() ?? [])].map((side) => {
    const theirs = of(side);
    const isOurs = side === OURS;
    const quotients = ours.map((rate, round) => (rate / theirs[round]!).toFixed(2));
    return {
      side,
      boxes: [...new Set(rounds.map((round) => round.get(side)!.boxes))].join(', '),
      'images/s': spread(theirs).median.toFixed(1),
      'ours / its': isOurs ? '' : (spread(ours).median / spread(theirs).median).toFixed(2),
      'by round': isOurs ? '' : quotients.join(' '),
    };
  });
}
