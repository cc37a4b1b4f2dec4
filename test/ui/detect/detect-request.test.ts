/** The request of the page's programs, against what the service makes of it. */
import fc from 'fast-check';
import type { Tiles } from '../../../src/api/tiles.js';
import { expect, test } from 'vitest';
import type { Detection } from '../../../src/api/schemas/image.js';
import {
  ALL_CLASSES,
  DEFAULT_PARAMETERS,
  DEFAULT_VEHICLES,
  type DetectOptions,
} from '../../../src/api/options.js';
import { byClassKey } from '../../../src/api/class-key.js';
import { refineDetections } from '../../../src/boxes/refine-detections.js';
import {
  ASKED_CONFIDENCE,
  detectFields,
  shownRequest,
  standIns,
  type DetectChoice,
} from '../../../src/ui/detect/detect-request.js';
import { foundIn } from '../../support/found-in.js';
import { detectionOf, floorOf, shownBoxes } from '../../../src/ui/picture/shown-boxes.js';

const MODEL_CLASSES = [...DEFAULT_VEHICLES, 'person'];

/** The answer of the service when the engine has these candidates. */
function answer(candidates: readonly Detection[], choice: DetectChoice): Detection[] {
  const { classes, threshold, mergeClasses = null, classThresholds = {}, maxDetections } = choice;
  const isAll = classes.includes(ALL_CLASSES);
  const wanted = classes.length === 0 ? DEFAULT_VEHICLES : classes;
  const options: DetectOptions = {
    ...DEFAULT_PARAMETERS,
    modelName: 'm.pt',
    classes: isAll ? null : wanted,
    confidence: threshold,
    mergeClasses,
    classThresholds,
    maxDetections: maxDetections ?? DEFAULT_PARAMETERS.maxDetections,
  };
  const found = foundIn({ width: 100, height: 100 }, [...candidates]);
  return refineDetections(found, options).detections;
}

const candidate = fc.record({
  class: fc.constantFrom(...MODEL_CLASSES),
  confidence: fc.integer({ min: 1, max: 99 }).map((percent) => percent / 100),
  box: fc.integer({ min: 0, max: 12 }).map((x): Detection['box'] => [x, 0, x + 20, 20]),
});

const choice = fc.record({
  candidates: fc.array(candidate, { maxLength: 12 }),
  asked: fc.constantFrom([], [ALL_CLASSES]),
  hidden: fc.subarray(MODEL_CLASSES).map((names) => new Set(names)),
  threshold: fc.integer({ min: 10, max: 95 }).map((percent) => percent / 100),
  written: fc.record(
    {
      classThresholds: fc.constantFrom({ CAR: 0.3 }, { bus: 0.05, person: 0.7 }),
      mergeClasses: fc.boolean(),
      maxDetections: fc.integer({ min: 1, max: 4 }),
    },
    { requiredKeys: [] },
  ),
});

test('the request answers the boxes that are shown, but for those that a switched-off class stands for', () => {
  let compared = 0;
  fc.assert(
    fc.property(choice, ({ candidates, asked, hidden, threshold: chosen, written }) => {
      const sorted = [...candidates].sort((a, b) => b.confidence - a.confidence);
      const request = { model: '', classes: asked, ...written };
      const all = answer(sorted, { ...request, threshold: ASKED_CONFIDENCE });
      // Where the list was cut, the slider goes no lower than what is known.
      const isCut = all.length === written.maxDetections;
      const threshold = isCut ? Math.max(chosen, floorOf(all)) : chosen;
      const byClass = byClassKey(written.classThresholds ?? {});
      const shown = shownBoxes(all, { threshold, byClass, hidden }).map(detectionOf);
      const choices = { ...written, asked, detections: all, hidden, threshold };
      if (standIns(choices).length > 0) return;
      const given = answer(sorted, shownRequest({ model: '', ...choices }));
      const alone = ({ class: name, confidence, box }: Detection) => [name, confidence, box];
      expect(given.map(alone)).toEqual(shown.map(alone));
      // The alternative class of a box is not asked for where that class is switched off.
      shown.forEach(({ alternative }, index) => {
        if (alternative === undefined || hidden.has(alternative.class)) return;
        expect(given[index]!.alternative).toEqual(alternative);
      });
      compared += 1;
    }),
    { numRuns: 500 },
  );
  expect(compared).toBeGreaterThan(200);
});

test('classes are named only where some are switched off, and then merging is said', () => {
  const fields = (asked: string[], ...hidden: string[]) =>
    detectFields(
      shownRequest({
        model: '',
        asked,
        detections: ['car', 'bus', 'truck'].map((name) => ({
          class: name,
          confidence: 0.5,
          box: [0, 0, 9, 9],
        })),
        hidden: new Set(hidden),
        threshold: 0.4,
      }),
    );
  expect(fields([])).toEqual({ confidence_threshold: 0.4 });
  expect(fields([], 'person')).toEqual({ confidence_threshold: 0.4 });
  expect(fields(['*'])).toEqual({ confidence_threshold: 0.4, classes: ['*'] });
  const two = { confidence_threshold: 0.4, classes: ['car', 'truck'] };
  expect(fields([], 'bus')).toEqual({ ...two, merge_classes: true });
  expect(fields(['*'], 'bus')).toEqual({ ...two, merge_classes: false });
  expect(fields([], 'car', 'bus', 'truck')).toEqual({ confidence_threshold: 1 });
});

test('tiles are named where there are some', () => {
  const fields = (tiles: Tiles) =>
    detectFields(
      shownRequest({
        model: '',
        asked: [],
        detections: [],
        hidden: new Set(),
        threshold: 0.4,
        tiles,
      }),
    );
  const grid = { columns: 3, rows: 3, overlap: 0.2 };
  expect(fields(grid)).toEqual({ confidence_threshold: 0.4, tiles: grid });
  expect(fields('auto')).toEqual({ confidence_threshold: 0.4, tiles: 'auto' });
  expect(fields('off')).toEqual({ confidence_threshold: 0.4 });
});
