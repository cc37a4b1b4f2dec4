import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Detection } from '../../src/api/schemas/image.js';
import { DEFAULT_PARAMETERS, DEFAULT_VEHICLES, type DetectOptions } from '../../src/api/options.js';
import { engineParameters, refineDetections } from '../../src/boxes/refine-detections.js';
import { foundIn } from '../support/found-in.js';
import { intersectionOverUnion } from '../../src/boxes/overlap.js';

const IMAGE = { width: 1000, height: 500 };
const asked = (more: Partial<DetectOptions> = {}): DetectOptions => ({
  modelName: 'm.pt',
  classes: null,
  ...DEFAULT_PARAMETERS,
  confidence: 0,
  ...more,
});
const box = (name: string, confidence: number, x: number, side = 100): Detection => ({
  box: [x, 0, x + side, side / 2],
  confidence,
  class: name,
});
const refined = (found: Detection[], more: Partial<DetectOptions>) =>
  refineDetections(foundIn(IMAGE, found), asked(more)).detections;

describe('one box per vehicle', () => {
  const car = box('car', 0.9, 0);
  const truck = box('truck', 0.6, 5);
  const bus = box('bus', 0.55, 6);
  const other = box('truck', 0.5, 500);

  it('keeps the best box of overlapping classes, which says the next best', () => {
    expect(refined([car, truck, bus, other], { mergeClasses: true })).toEqual([
      { ...car, alternative: { class: 'truck', confidence: 0.6 } },
      other,
    ]);
  });

  it.each([
    ['all classes, as batch_detect', { classes: null }, 4],
    ['named classes', { classes: ['car', 'truck', 'bus'] }, 4],
    ['no named classes', { classes: DEFAULT_VEHICLES }, 2],
    [
      'no named classes, but a word of its own',
      { classes: DEFAULT_VEHICLES, mergeClasses: false },
      4,
    ],
    ['all classes and a word of its own', { classes: null, mergeClasses: true }, 2],
  ])('%s', (_, more, boxes) => {
    expect(refined([car, truck, bus, other], more)).toHaveLength(boxes);
  });

  it('overlaps count above iou_threshold, and boxes of one class stay as the engine left them', () => {
    expect(refined([car, truck], { mergeClasses: true, iou: 0.95 })).toEqual([car, truck]);
    const second = box('car', 0.8, 5);
    expect(refined([car, second], { mergeClasses: true })).toEqual([car, second]);
  });
});

describe('thresholds by class', () => {
  const found = [box('Truck', 0.65, 0), box('car', 0.45, 200), box('truck', 0.55, 400)];

  it('stand in place of the general one, in any letter case', () => {
    const classThresholds = { truck: 0.6, CAR: 0.4 };
    expect(refined(found, { classThresholds })).toEqual([found[0], found[1]]);
    expect(engineParameters(asked({ classThresholds, confidence: 0.5 }), 1).confidence).toBe(0.4);
  });

  it('leave the general one to other classes', () => {
    const more = { classThresholds: { truck: 0.1 }, confidence: 0.5 };
    expect(refined(found, more)).toEqual([found[0], found[2]]);
  });
});

describe('sizes', () => {
  const found = [box('car', 0.9, 0, 20), box('car', 0.8, 100, 100), box('car', 0.7, 300, 400)];

  it.each([
    [{ minSize: 50 }, [1, 2]],
    [{ maxSize: 100 }, [0, 1]],
    [{ minSize: 0.1, maxSize: 0.3 }, [1]],
    [{ minSize: 1 }, []],
    [{ maxSize: 0 }, [0, 1, 2]],
  ])('%o', (more, kept) => {
    expect(refined(found, more)).toEqual(kept.map((at) => found[at]));
  });
});

describe('the most boxes', () => {
  it('count after all that is left out, and the list says that it was cut', () => {
    const found = [
      box('car', 0.9, 0),
      box('truck', 0.8, 2),
      box('car', 0.7, 300),
      box('car', 0.6, 600),
    ];
    const more = { mergeClasses: true, maxDetections: 2 };
    const { detections, truncated } = refineDetections(foundIn(IMAGE, found), asked(more));
    expect(detections.map(({ confidence }) => confidence)).toEqual([0.9, 0.7]);
    expect(truncated).toBe(true);
    expect(engineParameters(asked(more), 0.05).maxDetections).toBeGreaterThan(300);
  });
});

const detections = fc
  .array(
    fc.record({
      x: fc.integer({ min: 0, max: 300 }),
      side: fc.integer({ min: 1, max: 200 }),
      confidence: fc.double({ min: 0.01, max: 1, noNaN: true }),
      name: fc.constantFrom('car', 'truck', 'bus'),
    }),
    { maxLength: 20 },
  )
  .map((boxes) =>
    boxes
      .map(({ name, confidence, x, side }) => box(name, confidence, x, side))
      .sort((a, b) => b.confidence - a.confidence),
  );

describe('for any boxes', () => {
  it('no two of different classes overlap, what stays is in order, and what is gone overlaps a better one', () => {
    fc.assert(
      fc.property(detections, (found) => {
        const kept = refined(found, { mergeClasses: true });
        const clash = (a: Detection, b: Detection) =>
          a.class !== b.class && intersectionOverUnion(a.box, b.box) > DEFAULT_PARAMETERS.iou;
        expect(kept.some((a, at) => kept.slice(0, at).some((b) => clash(a, b)))).toBe(false);
        const plain = kept.map(({ box: edges, confidence, class: name }) => ({
          box: edges,
          confidence,
          class: name,
        }));
        expect(found.filter((each) => plain.some((other) => isSame(each, other)))).toEqual(plain);
        const gone = found.filter((each) => !plain.some((other) => isSame(each, other)));
        for (const each of gone) {
          expect(kept.some((a) => a.confidence >= each.confidence && clash(a, each))).toBe(true);
        }
      }),
    );
  });

  it('nothing changes without an option', () => {
    fc.assert(
      fc.property(detections, (found) => {
        expect(refined(found, {})).toEqual(found);
      }),
    );
  });
});

const isSame = (a: Detection, b: Detection) => JSON.stringify(a) === JSON.stringify(b);
