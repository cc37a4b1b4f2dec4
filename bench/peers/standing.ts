/** Every server's figures beside ours, and the goals, against the strongest server that gives the right boxes. */
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
import { OURS, OURS_SQUARE, type NetworkFile, type Shape } from './sides.js';

/** Share of the boxes of its network that another server must have, both ways, to be ranked; ours shows its mAP. */
const SAME_BOXES = 0.95;

/** One server on one set of photos. */
export interface Measured {
  name: string;
  ours: boolean;
  shape: Shape;
  file: NetworkFile;
  rounds: Round[];
  /** With the boxes of the same network at the same input shape, and with those of f32 on the square. */
  agreement: { sameShape: BoxAgreement; square: BoxAgreement };
  /** mAP50-95 of its boxes; null without labels. */
  precisionOnLabels: number | null;
}

export interface Standing {
  name: string;
  shape: Shape;
  file: NetworkFile;
  /** Whether its boxes are those of its network, so that its speed may be compared. */
  ranked: boolean;
  /** How many boxes of its network, at its input shape, were compared. */
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
      file: side.file,
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
  rivals: Rivals;
}

/** The servers that a goal is about: those with that file of the network and one of these shapes of input. */
export interface Rivals {
  file: NetworkFile;
  shapes: readonly Shape[];
}

const ON_SQUARE: Rivals = { file: 'export', shapes: ['square'] };
const WITH_OUR_COPY: Rivals = { file: 'our 8-bit copy', shapes: ['square', 'rectangles'] };

/** By set of photos. */
export const GOALS: Record<'small' | 'mix', Goal[]> = {
  small: goals({ latency: 0.62, rate: 1.65 }, { latency: 0.9, rate: 1.2 }),
  mix: goals({ latency: 0.68, rate: 1.5 }, { latency: 0.85, rate: 1.2 }),
};

type Limits = Record<keyof Ratios, number>;

function goals(square: Limits, withOurCopy: Limits): Goal[] {
  return [
    ...bothFigures(OURS, square, ON_SQUARE),
    ...bothFigures(OURS_SQUARE, { latency: 0.93, rate: 1.05 }, ON_SQUARE),
    ...bothFigures(OURS, withOurCopy, WITH_OUR_COPY),
  ];
}

function bothFigures(ours: Goal['ours'], limits: Limits, rivals: Rivals): Goal[] {
  return (['latency', 'rate'] as const).map((figure) => ({
    ...{ ours, figure, limit: limits[figure], rivals },
  }));
}

/** The ranked rival that is the best against ours in a figure; null where there is none. */
export function strongest(
  all: readonly Standing[],
  { ours, figure }: Pick<Goal, 'ours' | 'figure'>,
  { file, shapes }: Rivals,
): { name: string; ratio: Spread } | null {
  const sign = figure === 'latency' ? -1 : 1;
  const [best] = all
    .filter((each) => each.ranked && each.file === file && shapes.includes(each.shape))
    .flatMap(({ name, against }) => {
      const ratio = against[ours]?.[figure];
      return ratio === undefined ? [] : [{ name, ratio }];
    })
    .sort((a, b) => sign * (a.ratio.median - b.ratio.median));
  return best ?? null;
}

export function isMet({ figure, limit }: Pick<Goal, 'figure' | 'limit'>, ratio: number): boolean {
  return figure === 'latency' ? ratio <= limit : ratio >= limit;
}
