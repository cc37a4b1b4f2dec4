import { expect, test } from 'vitest';
import { readingOf, readMetrics, type Reading } from '../../../src/ui/service/reading.js';
import { newFailures, quantile, seriesOf, stepMeans } from '../../../src/ui/service/series.js';

const TEXT = `# HELP lattice_images_total Images by outcome
# TYPE lattice_images_total counter
lattice_images_total{outcome="ok"} 40
lattice_images_total{outcome="image_not_found"} 3
lattice_queue_images{class="sync"} 2
lattice_queue_images{class="async"} 7
lattice_images_now{state="waiting"} 491
lattice_images_now{state="in_hand"} 20
lattice_job_images 120
process_resident_memory_bytes 1.5e+08
lattice_model_images_total{model="a\\"b\\\\c.pt"} 12
lattice_image_stage_seconds_sum{stage="inference"} 2
lattice_image_stage_seconds_count{stage="inference"} 40
lattice_http_request_seconds_bucket{le="0.1",method="POST",route="/v1/inference/detect",status="200"} 10
lattice_http_request_seconds_bucket{le="+Inf",method="POST",route="/v1/inference/detect",status="200"} 20
lattice_http_request_seconds_bucket{le="0.1",method="POST",route="/v1/inference/detect",status="422"} 99
lattice_http_request_seconds_bucket{le="0.1",method="GET",route="/ui",status="200"} 99
`;

const at = (seconds: number, fields: Partial<Reading> = {}): Reading => ({
  ...readingOf([], seconds),
  ...fields,
});

test('a reading has what is charted', () => {
  expect(readingOf(readMetrics(TEXT), 1_000)).toEqual({
    at: 1_000,
    images: 40,
    failures: { image_not_found: 3 },
    latency: new Map([
      [0.1, 10],
      [Infinity, 20],
    ]),
    queueSync: 2,
    waiting: 491,
    inHand: 20,
    memoryBytes: 150_000_000,
    models: { 'a"b\\c.pt': 12 },
    steps: { inference: { ms: 2_000, images: 40 } },
  });
});

test('rates are of the time between readings; a gap and a restart have none', () => {
  const readings = [
    at(0, { images: 10 }),
    at(5, { images: 20, failures: { image_not_found: 5 } }),
    at(10, { images: 1 }),
    at(100, { images: 50 }),
  ];
  const { imagesPerSecond, failuresPerSecond } = seriesOf(readings);
  expect(imagesPerSecond).toEqual([null, 3, null, null]);
  expect(failuresPerSecond).toEqual([null, 1, null, null]);
});

test('percentiles are those of the requests between two readings', () => {
  const buckets = (...counts: number[]) =>
    new Map([0.01, 0.1, 1, Infinity].map((bound, index) => [bound, counts[index]!]));
  const before = buckets(5, 5, 5, 5);
  const now = buckets(5, 105, 205, 205);
  expect(quantile(before, now, 0.5)).toBeCloseTo(0.1);
  expect(quantile(before, now, 0.25)).toBeCloseTo(0.055);
  expect(quantile(before, now, 0.95)).toBeCloseTo(0.91);
  expect(quantile(before, buckets(5, 5, 5, 8), 0.5)).toBe(1);
  expect(quantile(now, now, 0.5)).toBeNull();
  expect(quantile(now, before, 0.5)).toBeNull();
  expect(quantile(new Map(), now, 0.5)).toBeGreaterThan(0);
});

test('latency is taken over a minute', () => {
  const of = (count: number) => new Map([[0.1, count], [Infinity, count]]); // prettier-ignore
  const readings = [at(0, { latency: of(0) }), at(50, { latency: of(10) }), at(100, { latency: of(10) }), at(115, { latency: of(10) })]; // prettier-ignore
  expect(seriesOf(readings).p50.map((value) => value !== null)).toEqual([
    false,
    true,
    false,
    false,
  ]);
});

test('failures and times since a reading', () => {
  const steps = { decode: { ms: 100, images: 10 }, model_load: { ms: 5, images: 1 } };
  const before = at(0, { failures: { a: 1, b: 2 }, steps });
  const now = at(5, {
    failures: { a: 2, b: 2, c: 4 },
    steps: { ...steps, decode: { ms: 180, images: 20 } },
  });
  expect(newFailures(before, now)).toEqual([
    ['c', 4],
    ['a', 1],
  ]);
  expect(stepMeans(before, now)).toEqual([{ step: 'decode', ms: 8 }]);
});
