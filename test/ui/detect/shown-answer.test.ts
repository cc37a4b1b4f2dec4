import { expect, it } from 'vitest';
import { toWireImage } from '../../../src/answers/processed-image.js';
import type { DetectResponse } from '../../../src/client/records.js';
import { shownAnswer } from '../../../src/ui/detect/shown-answer.js';
import { shownBoxes } from '../../../src/ui/picture/shown-boxes.js';

const box = (name: string, confidence: number) => ({
  class: name,
  confidence,
  box: [0, 0, 10, 10] as [number, number, number, number],
});
const answered = (detections: ReturnType<typeof box>[], threshold = 0.1): DetectResponse => ({
  status: 'success',
  image_path: 'a.jpg',
  ...toWireImage({
    detections,
    processingTimeMs: 1,
    image: { width: 10, height: 10 },
    timingsMs: { queue: 0, decode: 0, preprocess: 0, inference: 1, postprocess: 0 },
    truncated: false,
  }),
  confidence_threshold: threshold,
  model: 'm.pt',
  worker_id: 'w',
});

it('has the boxes and counts that a request with this threshold has', () => {
  const all = [box('car', 0.9), box('bus', 0.7), box('car', 0.5), box('truck', 0.2)];
  const shown = (threshold: number, ...hidden: string[]) =>
    shownAnswer(answered(all), shownBoxes(all, { threshold, hidden: new Set(hidden) }), threshold);
  expect(shown(0.4)).toEqual(answered(all.slice(0, 3), 0.4));
  expect(shown(0.4, 'bus')).toEqual(answered([all[0]!, all[2]!], 0.4));
  expect(shown(0.95)).toEqual(answered([], 0.95));
});

it('has the counts of the regions of the boxes that are shown', () => {
  const all = [
    { ...box('car', 0.9), regions: ['gate', 'all'] },
    { ...box('bus', 0.7), regions: ['all'] },
    { ...box('car', 0.5), regions: ['all'] },
  ];
  const answer = {
    ...answered(all),
    region_counts: { gate: { car: 1 }, all: { car: 2, bus: 1 }, none: {} },
  };
  const shown = (threshold: number) =>
    shownAnswer(answer, shownBoxes(all, { threshold, hidden: new Set() }), threshold).region_counts;
  expect(shown(0.1)).toEqual(answer.region_counts);
  expect(shown(0.6)).toEqual({ gate: { car: 1 }, all: { car: 1, bus: 1 }, none: {} });
  expect(shown(0.95)).toEqual({ gate: {}, all: {}, none: {} });
});
