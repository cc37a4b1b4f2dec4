/** Regions and masks in what a request gets of the boxes that the engine has found. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Detection } from '../../src/api/schemas/image.js';
import { DEFAULT_PARAMETERS, type DetectOptions } from '../../src/api/options.js';
import type { Region } from '../../src/api/region-rules.js';
import { refineDetections } from '../../src/boxes/refine-detections.js';
import { foundIn } from '../support/found-in.js';
import { regionBetween } from '../support/region-between.js';

const IMAGE = { width: 1000, height: 500 };
const asked = (regions: Region[] | null, more: Partial<DetectOptions> = {}): DetectOptions => ({
  modelName: 'm.pt',
  classes: null,
  ...DEFAULT_PARAMETERS,
  confidence: 0,
  regions,
  ...more,
});
const refined = (found: Detection[], regions: Region[], more: Partial<DetectOptions> = {}) =>
  refineDetections(foundIn(IMAGE, found), asked(regions, more));

let confidence = 0.99;
const box = (name: string, ...sides: [number, number, number, number]): Detection => ({
  box: sides,
  confidence: (confidence -= 1e-6),
  class: name,
});
const namesOf = (detections: readonly Detection[]) => detections.map(({ regions }) => regions);

it('without regions nothing is said of them', () => {
  const found = [box('car', 0, 0, 100, 100)];
  for (const regions of [null, []]) {
    expect(refineDetections(foundIn(IMAGE, found), asked(regions))).toEqual({
      detections: found,
      truncated: false,
    });
  }
});

it('each box names its regions, and each region has a row, also without boxes', () => {
  const found = [
    box('car', 0, 0, 100, 100),
    box('truck', 400, 0, 500, 100),
    box('car', 900, 0, 1000, 500),
  ];
  const regions = [
    regionBetween('left', 0, 0.5),
    regionBetween('middle', 0.3, 0.7),
    regionBetween('none', 0.7, 0.75),
  ];
  const { detections, regionCounts, truncated } = refined(found, regions);
  expect(namesOf(detections)).toEqual([['left'], ['left', 'middle'], []]);
  expect(detections.map(({ box: sides }) => sides)).toEqual(found.map(({ box: sides }) => sides));
  expect(regionCounts).toEqual({ left: { car: 1, truck: 1 }, middle: { truck: 1 }, none: {} });
  expect(truncated).toBe(false);
});

it('counts what is in the answer: with the most boxes cut off, those that are left', () => {
  const found = [box('car', 0, 0, 10, 10), box('car', 10, 0, 20, 10), box('car', 20, 0, 30, 10)];
  const { detections, regionCounts, truncated } = refined(found, [regionBetween('all', 0, 1)], {
    maxDetections: 2,
  });
  expect([detections.length, regionCounts, truncated]).toEqual([2, { all: { car: 2 } }, true]);
});

it('names of any letters are names', () => {
  const found = [box('constructor', 0, 0, 10, 10)];
  const { regionCounts } = refined(found, [
    regionBetween('__proto__', 0, 1),
    regionBetween('toString', 0, 1),
  ]);
  expect(JSON.stringify(regionCounts)).toBe(
    '{"__proto__":{"constructor":1},"toString":{"constructor":1}}',
  );
});

describe('the anchor', () => {
  /** Its bottom centre is at 0.5, 0.9, its centre at 0.5, 0.5; a quarter of it lies left of 0.4. */
  const found = [box('car', 300, 50, 700, 450)];
  const at = (
    left: number,
    top: number,
    right: number,
    bottom: number,
    anchor?: Region['anchor'],
  ) =>
    namesOf(
      refined(found, [
        { name: 'r', polygon: [[left, top], [right, top], [right, bottom], [left, bottom]], anchor }, // prettier-ignore
      ]).detections,
    )[0]?.length === 1;

  it('is the middle of the bottom side by default', () => {
    expect(at(0.4, 0.8, 0.6, 1)).toBe(true);
    expect(at(0.4, 0.8, 0.6, 1, null)).toBe(true);
    expect(at(0.4, 0.8, 0.6, 1, 'bottom')).toBe(true);
    expect(at(0.4, 0.4, 0.6, 0.6)).toBe(false);
  });

  it('may be the centre', () => {
    expect(at(0.4, 0.4, 0.6, 0.6, 'centre')).toBe(true);
    expect(at(0.4, 0.8, 0.6, 1, 'centre')).toBe(false);
  });

  it.each([
    [0.25, true],
    [0.26, false],
    [0, true],
    [1, false],
  ])('may be a share of its area: %d', (anchor, inside) => {
    expect(at(0, 0, 0.4, 1, anchor)).toBe(inside);
  });

  it('as the whole box needs all of it, and as none of it still a part', () => {
    expect(at(0, 0, 1, 1, 1)).toBe(true);
    expect(at(0.3, 0.1, 0.7, 0.9, 1)).toBe(true);
    expect(at(0, 0, 0.3, 1, 0)).toBe(false);
  });

  it('of a box without area is its centre', () => {
    const line = [box('car', 100, 0, 100, 400)];
    expect(
      namesOf(refined(line, [regionBetween('r', 0, 0.5, { anchor: 0.5 })]).detections),
    ).toEqual([['r']]);
  });

  it('of a box that the picture cuts off lies in the region that ends there', () => {
    const cut = [box('car', 900.4, 400, 1000.0001, 500.0001)];
    expect(namesOf(refined(cut, [regionBetween('all', 0, 1)]).detections)).toEqual([['all']]);
  });
});

describe('a mask', () => {
  const car = box('car', 0, 0, 100, 100);
  const truck = box('truck', 100, 0, 200, 100);
  const far = box('car', 800, 0, 900, 100);

  it('leaves out what lies in it, and is no region', () => {
    const { detections, regionCounts } = refined(
      [car, truck, far],
      [regionBetween('mask', 0, 0.5, { ignore: true }), regionBetween('all', 0, 1)],
    );
    expect(detections).toEqual([{ ...far, regions: ['all'] }]);
    expect(regionCounts).toEqual({ all: { car: 1 } });
  });

  it('of classes leaves out those, by their anchor', () => {
    const mask = regionBetween('mask', 0, 0.5, { ignore: true, classes: ['TRUCK'] });
    expect(refined([car, truck, far], [mask]).detections).toEqual(
      [car, far].map((each) => ({ ...each, regions: [] })),
    );
    const high: Region = { ...regionBetween('m', 0, 1, { ignore: true }), polygon: [[0, 0], [1, 0], [1, 0.15], [0, 0.15]] }; // prettier-ignore
    expect(refined([car], [high]).detections).toHaveLength(1);
    expect(refined([car], [{ ...high, anchor: 'centre' }]).detections).toHaveLength(0);
  });

  it('takes no place of what stays', () => {
    const mask = regionBetween('mask', 0, 0.5, { ignore: true });
    const options = asked([mask], { maxDetections: 1 });
    const { detections, truncated } = refineDetections(foundIn(IMAGE, [car, truck, far]), options);
    expect([detections.length, detections[0]?.box, truncated]).toEqual([1, far.box, false]);
  });

  it('looks at the class that a box has after merging', () => {
    const same = { ...truck, box: car.box };
    const mask = regionBetween('mask', 0, 0.5, { ignore: true, classes: ['truck'] });
    const { detections } = refined([car, same], [mask], { mergeClasses: true });
    expect(detections).toMatchObject([{ class: 'car', alternative: { class: 'truck' } }]);
  });
});

it('regions of classes count those, in any letter case', () => {
  const found = [box('Car', 0, 0, 100, 100), box('bus', 0, 0, 100, 100)];
  const { detections, regionCounts } = refined(found, [
    regionBetween('r', 0, 1, { classes: ['car'] }),
  ]);
  expect(namesOf(detections)).toEqual([['r'], []]);
  expect(regionCounts).toEqual({ r: { Car: 1 } });
});

describe('for any boxes', () => {
  const pixels = (most: number) => fc.integer({ min: 0, max: most });
  const boxes = fc.array(
    fc
      .tuple(
        pixels(1000),
        pixels(500),
        pixels(1000),
        pixels(500),
        fc.constantFrom('car', 'bus', 'truck'),
      )
      .map(([a, b, c, d, name]) =>
        box(name, Math.min(a, c), Math.min(b, d), Math.max(a, c), Math.max(b, d)),
      ),
    { maxLength: 30 },
  );
  const stripes = fc
    .uniqueArray(fc.integer({ min: 1, max: 19 }), { minLength: 1, maxLength: 8 })
    .map((cuts) => [0, ...cuts.sort((a, b) => a - b), 20].map((cut) => cut / 20));
  const place = fc.constantFrom<('bottom' | 'centre')[]>('bottom', 'centre');
  const inAll = (counts: Record<string, Record<string, number>> = {}) =>
    Object.values(counts)
      .flatMap((row) => Object.values(row))
      .reduce((sum, count) => sum + count, 0);

  it('disjoint regions sum to at most the total, and regions that fill the picture to the total', () => {
    fc.assert(
      fc.property(boxes, stripes, place, fc.integer(), (found, cuts, anchor, dropped) => {
        const all = cuts
          .slice(1)
          .map((right, at) => regionBetween(`r${at}`, cuts[at]!, right, { anchor }));
        expect(inAll(refined(found, all).regionCounts)).toBe(found.length);
        const some = all.filter((_, at) => (dropped >> at) & 1);
        if (some.length === 0) return;
        expect(inAll(refined(found, some).regionCounts)).toBeLessThanOrEqual(found.length);
      }),
      { numRuns: 500 },
    );
  });

  it('a mask and a region of one polygon share the boxes out', () => {
    fc.assert(
      fc.property(
        boxes,
        stripes,
        fc.oneof(place, fc.double({ min: 0, max: 1, noNaN: true })),
        (found, [, cut = 0.5], anchor) => {
          const polygon = regionBetween('r', 0, cut, { anchor });
          const { regionCounts } = refined(found, [polygon]);
          const { detections } = refined(found, [{ ...polygon, ignore: true }]);
          expect(inAll(regionCounts) + detections.length).toBe(found.length);
        },
      ),
      { numRuns: 500 },
    );
  });
});
