/** Every server's figures beside ours, and the goals, against the strongest server that gives the boxes of f32. */
import type { BoxAgreement } from '../accuracy/box-agreement.js';
import {
  meanLatency,
  ratios,
  typicalLatency,
  typicalRate,
  type Ratios,
  type Round,
  type Spread,
} from './round-figures.js';
import { OURS, OURS_SQUARE, type Shape } from './sides.js';

/** Share of the boxes of f32 that another server must have, both ways, to be ranked; ours shows its mAP. */
const SAME_BOXES = 0.95;

/** One server on one set of photos. */
export interface Measured {
  name: string;
  ours: boolean;
  shape: Shape;
  rounds: Round[];
  /** With the boxes of f32 at the same input shape, and on the square. */
  agreement: { sameShape: BoxAgreement; square: BoxAgreement };
  /** mAP50-95 of its boxes; null without labels. */
  precisionOnLabels: number | null;
}

export interface Standing {
  name: string;
  shape: Shape;
  /** Whether its boxes are those of f32, so that its speed may be compared. */
  ranked: boolean;
  /** How many boxes of f32, at its input shape, were compared. */
  boxes: number;
  recall: number;
  precision: number;
  squareRecall: number;
  squarePrecision: number;
  precisionOnLabels: number | null;
  latencyMs: number;
  perSecond: number;
  refused: number;
  /** One after the other. */
  rounds: { latencyMs: number; perSecond: number }[];
  /** Ratios of each of our configurations to this server. */
  against: Record<typeof OURS | typeof OURS_SQUARE, Ratios | null>;
}

export function standings(measured: readonly Measured[]): Standing[] {
  const roundsOf = (name: string) => measured.find((each) => each.name === name)?.rounds;
  return measured.map(({ name, rounds, agreement: { sameShape, square }, ...side }) => {
    const against = (ourName: string) => {
      const ours = roundsOf(ourName);
      return side.ours || ours === undefined ? null : ratios(ours, rounds);
    };
    return {
      name,
      shape: side.shape,
      ranked: side.ours || isSame(sameShape),
      boxes: sameShape.expected,
      recall: sameShape.recall,
      precision: sameShape.precision,
      squareRecall: square.recall,
      squarePrecision: square.precision,
      precisionOnLabels: side.precisionOnLabels,
      latencyMs: typicalLatency(rounds),
      perSecond: typicalRate(rounds),
      refused: rounds.reduce((sum, { refused }) => sum + refused, 0),
      rounds: rounds.map((round) => ({
        latencyMs: meanLatency(round),
        perSecond: round.perSecond,
      })),
      against: { [OURS]: against(OURS), [OURS_SQUARE]: against(OURS_SQUARE) },
    };
  });
}

const isSame = ({ recall, precision }: BoxAgreement) => Math.min(recall, precision) >= SAME_BOXES;

export interface Goal {
  /** Which of our configurations. */
  ours: typeof OURS | typeof OURS_SQUARE;
  figure: keyof Ratios;
  limit: number;
}

/** Against servers that run the square, by set of photos. */
export const GOALS: Record<'small' | 'mix', Goal[]> = {
  small: goals(0.62, 1.65),
  mix: goals(0.68, 1.5),
};

function goals(latency: number, rate: number): Goal[] {
  return [
    { ours: OURS, figure: 'latency', limit: latency },
    { ours: OURS, figure: 'rate', limit: rate },
    { ours: OURS_SQUARE, figure: 'latency', limit: 0.93 },
    { ours: OURS_SQUARE, figure: 'rate', limit: 1.05 },
  ];
}

/** The ranked server of that input shape that is the best against ours in a figure; null where there is none. */
export function strongest(
  all: readonly Standing[],
  { ours, figure }: Pick<Goal, 'ours' | 'figure'>,
  shape: Shape,
): { name: string; ratio: Spread } | null {
  const sign = figure === 'latency' ? -1 : 1;
  const [best] = all
    .filter((each) => each.ranked && each.shape === shape)
    .flatMap(({ name, against }) => {
      const ratio = against[ours]?.[figure];
      return ratio === undefined ? [] : [{ name, ratio }];
    })
    .sort((a, b) => sign * (a.ratio.median - b.ratio.median));
  return best ?? null;
}

export function isMet({ figure, limit }: Goal, ratio: number): boolean {
  return figure === 'latency' ? ratio <= limit : ratio >= limit;
}
