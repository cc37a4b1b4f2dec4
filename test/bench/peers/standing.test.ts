import { describe, expect, it } from 'vitest';
import type { BoxAgreement } from '../../../bench/accuracy/box-agreement.js';
import { OURS, OURS_SQUARE, type NetworkFile, type Shape } from '../../../bench/peers/sides.js';
import {
  GOALS,
  isMet,
  standings,
  strongest,
  type Measured,
  type Rivals,
} from '../../../bench/peers/standing.js';

const agreeing = (recall: number, precision = 1): BoxAgreement => ({
  recall,
  precision,
  expected: 1,
  found: 1,
  confidenceGap: 0,
  misses: [],
});

interface Made {
  shape?: Shape;
  file?: NetworkFile;
  recall?: number;
  precision?: number;
  squareRecall?: number;
}

const side = (
  name: string,
  ms: number,
  perSecond: number,
  { shape = 'square', file = 'export', recall = 1, precision = 1, squareRecall = 1 }: Made = {},
): Measured => ({
  name,
  ours: name === OURS || name === OURS_SQUARE,
  shape,
  file,
  rounds: [{ latencies: new Map([['p', ms]]), perSecond, refused: 0 }],
  agreement: { sameShape: agreeing(recall, precision), square: agreeing(squareRecall) },
  precisionOnLabels: null,
});

const OUR_SIDES = [side(OURS, 20, 40, { shape: 'rectangles' }), side(OURS_SQUARE, 30, 30)];
const LATENCY = { ours: OURS, figure: 'latency' } as const;
const SQUARE: Rivals = { file: 'export', shapes: ['square'] };
const RATE = { ours: OURS, figure: 'rate' } as const;

describe('the strongest server', () => {
  it('is the fastest at one client for the time, the one of most requests for the rate', () => {
    const all = standings([...OUR_SIDES, side('quick', 40, 10), side('wide', 80, 20)]);
    expect(strongest(all, LATENCY, SQUARE)).toMatchObject({
      name: 'quick',
      ratio: { median: 0.5 },
    });
    expect(strongest(all, RATE, SQUARE)).toMatchObject({ name: 'wide', ratio: { median: 2 } });
    expect(strongest(all, { ...LATENCY, ours: OURS_SQUARE }, SQUARE)).toMatchObject({
      name: 'quick',
      ratio: { median: 0.75 },
    });
  });

  it.each([{ recall: 0.94 }, { precision: 0.94 }])(
    'is none that gives other boxes: %o',
    (wrong: Made) => {
      const all = standings([...OUR_SIDES, side('right', 40, 10), side('wrong', 10, 90, wrong)]);
      expect(all.find(({ name }) => name === 'wrong')).toMatchObject({
        ranked: false,
        latencyMs: 10,
        perSecond: 90,
      });
      expect(strongest(all, LATENCY, SQUARE)?.name).toBe('right');
      expect(strongest(all, RATE, SQUARE)?.name).toBe('right');
    },
  );

  it('has the input shape that is asked for, and is judged by ours at that shape', () => {
    const cut = side('cut', 10, 90, { shape: 'rectangles', squareRecall: 0.9 });
    const all = standings([...OUR_SIDES, side('whole', 40, 10), cut]);
    expect(strongest(all, LATENCY, SQUARE)?.name).toBe('whole');
    expect(strongest(all, LATENCY, { ...SQUARE, shapes: ['rectangles'] })?.name).toBe('cut');
  });

  it('has the file that is asked for', () => {
    const copy = { file: 'our 8-bit copy' } as const;
    const all = standings([
      ...OUR_SIDES,
      side('export', 40, 10),
      side('square copy', 25, 30, copy),
      side('cut copy', 20, 40, { ...copy, shape: 'rectangles' }),
    ]);
    expect(strongest(all, LATENCY, SQUARE)?.name).toBe('export');
    const [, copyGoal] = GOALS.small.filter(({ rivals }) => rivals.file === copy.file);
    expect(strongest(all, copyGoal!, copyGoal!.rivals)).toMatchObject({
      name: 'cut copy',
      ratio: { median: 1 },
    });
  });

  it('is none of ours', () => {
    expect(strongest(standings(OUR_SIDES), LATENCY, SQUARE)).toBeNull();
  });
});

describe('a goal', () => {
  it('is an upper limit for the time and a lower one for the rate', () => {
    expect(isMet({ ...LATENCY, limit: 0.65 }, 0.65)).toBe(true);
    expect(isMet({ ...LATENCY, limit: 0.65 }, 0.66)).toBe(false);
    expect(isMet({ ...RATE, limit: 1.3 }, 1.3)).toBe(true);
    expect(isMet({ ...RATE, limit: 1.3 }, 1.29)).toBe(false);
  });
});
