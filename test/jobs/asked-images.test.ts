/**
 * Questions that are asked of the stored boxes of a job: what comes of them is what a fresh job with the same question
 * gives, to the last digit. On the real engine, with the bundled model and real photos.
 */
import fc from 'fast-check';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_PARAMETERS, DEFAULT_VEHICLES, type DetectOptions } from '../../src/api/options.js';
import { optionsWith, type Question } from '../../src/api/question.js';
import type { Region } from '../../src/api/region-rules.js';
import { PACKAGE_ROOT } from '../../src/base/package.js';
import type { NativeWorker } from '../../src/execution/here/native-worker.js';
import { openDetector } from '../../src/execution/here/open-detector.js';
import { createJobs, type Jobs } from '../../src/jobs/jobs.js';
import type { JobImages } from '../../src/jobs/stored-images.js';
import { loadConfig } from '../../src/settings/config.js';
import { SumsByHour, type HourRow } from '../../src/store/count-sum.js';
import type { ImageCounts, ImageEntry, Job } from '../../src/store/job.js';
import { openStore } from '../../src/store/service-store.js';
import type { Views } from '../../src/views/views.js';
import { regionBetween } from '../support/region-between.js';
import { hasTestdata, SHARED_TESTDATA } from '../support/service-process.js';
import { overWorkers } from '../support/simulated-worker.js';
import { silent } from '../support/silent-logger.js';
import { ended, openParts, specOf, TemporaryFolder } from './job-folder.js';

/** LATTICE_TEST_QUESTIONS=200 asks more. */
const QUESTIONS = Number(process.env.LATTICE_TEST_QUESTIONS ?? 24);
const DEMO = join(PACKAGE_ROOT, 'models', 'demo');
const PHOTOS = ['bus.jpg', 'car-640x382.jpg', 'traffic-640x640.jpg', 'coco-000000181542.jpg'];
const roots = hasTestdata ? [DEMO, join(SHARED_TESTDATA, 'images')] : [DEMO];
const photos = [
  ...readdirSync(DEMO).filter((name) => name.endsWith('.jpg')),
  ...(hasTestdata ? PHOTOS : []),
];
const NAMES = ['car', 'truck', 'bus', 'motorcycle'];

const folder = new TemporaryFolder();
let jobs: Jobs;
let views: Views;
let worker: NativeWorker;

beforeAll(async () => {
  const config = { ...loadConfig({ dataDir: folder.path }, {}), imageRoots: roots };
  worker = await openDetector(config, silent);
  const store = await openStore(folder.path);
  const parts = await openParts(store, folder.path, { imageRoots: roots });
  views = parts.views;
  jobs = await createJobs(store, {
    ...config,
    ...parts,
    detector: overWorkers([worker]),
    volumePatienceMs: 0,
    logger: silent,
  });
  jobs.start();
  await views.put('gate-2', { paths: [], regions: [regionBetween('gate', 0, 0.6)] }, null);
});
afterAll(async () => {
  await jobs.stop(0);
  await worker.close();
  folder[Symbol.dispose]();
});

const modelName = 'yolov8n.pt';
const own: DetectOptions = { ...DEFAULT_PARAMETERS, modelName, classes: DEFAULT_VEHICLES };

async function run(options: DetectOptions): Promise<Job> {
  const { job } = await jobs.service.submit(specOf({ imagePaths: photos, options }));
  return ended(jobs.service, job.jobId);
}

/** All that readers get of a job, without what differs from run to run. */
async function readings(images: JobImages, job: Job) {
  const entries: ImageEntry[] = [];
  for await (const page of images.imagePages(job.jobId)) entries.push(...page);
  const counts: ImageCounts[] = [];
  for await (const page of images.countPages(job.jobId)) counts.push(...page);
  const states = [];
  for await (const page of images.statePages(job.jobId)) states.push(...page);
  const page = { offset: 0, limit: 50 };
  const found = await images.filteredImages(job, { outcome: 'found' }, page);
  const unsure = await images.filteredImages(job, { classes: ['car'], confidenceBelow: 0.6 }, page);
  const margin = await images.filteredImages(job, {}, { ...page, sort: 'margin' });
  const indexes = ({ entries: some }: typeof found) => some.map(({ index }) => index);
  return {
    results: entries.map(boxesOf),
    counts: counts.map(({ path, classCounts, regionCounts }) => ({
      path,
      classCounts,
      regionCounts,
    })),
    states: states.map(({ path, outcome }) => ({ path, outcome })),
    found: [indexes(found), found.matching],
    unsure: [indexes(unsure), unsure.matching],
    margin: [indexes(margin), margin.entries.map(boxesOf)],
    sums: await sumsOf(images, job, counts),
    tally: await tallyOf(images, job),
  };
}

function boxesOf({ path, outcome }: ImageEntry) {
  if (outcome?.status !== 'ok') return { path, outcome };
  const { detections, truncated, regionCounts, view, image } = outcome;
  return { path, detections, truncated, regionCounts, view, image };
}

/** Sums by folder and hour: they are those of the images. */
async function sumsOf(images: JobImages, { jobId }: Job, counts: readonly ImageCounts[]) {
  const expected = new SumsByHour();
  for (const image of counts) {
    expected.of(dirname(image.path), image.taken?.time.slice(0, 13) ?? '').add(image);
  }
  const { sums, total, jobs: counted } = await images.countSums(jobId);
  expect(counted).toBe(1);
  expect(inOrder(sums)).toEqual(inOrder(expected.rows()));
  return { sums: inOrder(sums), total: total.toRow() };
}

const inOrder = (rows: readonly HourRow[]): HourRow[] =>
  [...rows].sort((a, b) => `${a.hour} ${a.folder}`.localeCompare(`${b.hour} ${b.folder}`));

async function tallyOf(images: JobImages, job: Job) {
  const { boxes, regions, ...states } = await images.tally(job);
  const sorted = (rows: object[]) => rows.map((row) => JSON.stringify(row)).sort();
  return { ...states, boxes: sorted(boxes), regions: sorted(regions) };
}

async function expectSame(base: Job, question: Question): Promise<void> {
  const asked = await jobs.service.asking(question, null);
  const again = await readings(asked, asked.jobAsked(base));
  const fresh = await run(optionsWith(base.spec.options, question));
  expect(again).toEqual(await readings(jobs.service, fresh));
}

const share = (least: number, most: number) =>
  fc.integer({ min: least * 100, max: most * 100 }).map((percent) => percent / 100);
const region: fc.Arbitrary<Region> = fc
  .tuple(
    share(0, 0.4),
    share(0.5, 1),
    fc.record(
      { ignore: fc.boolean(), anchor: fc.constantFrom('bottom' as const, 'centre' as const, 0.3) },
      { requiredKeys: [] },
    ),
  ) // prettier-ignore
  .map(([from, to, more]) => regionBetween(more.ignore === true ? 'mask' : 'gate', from, to, more));
const question: fc.Arbitrary<Question> = fc.record(
  {
    confidence: share(0.05, 0.95),
    classes: fc.oneof(
      fc.constant(null),
      fc.constant(DEFAULT_VEHICLES),
      fc.subarray(NAMES, { minLength: 1 }),
    ),
    mergeClasses: fc.boolean(),
    classThresholds: fc.dictionary(fc.constantFrom('car', 'TRUCK', 'bus'), share(0.05, 0.9)),
    minSize: fc.oneof(share(0, 0.2), fc.integer({ min: 2, max: 120 })),
    maxSize: fc.oneof(share(0.3, 1), fc.integer({ min: 100, max: 900 })),
    maxDetections: fc.integer({ min: 1, max: 12 }),
    regions: fc.array(region, { maxLength: 1 }),
  },
  { requiredKeys: [] },
);

describe('a question of stored boxes', () => {
  test.each<[string, Partial<DetectOptions>]>([
    ['as by default', {}],
    ['with merging at another overlap', { iou: 0.45, mergeClasses: true }],
    ['in tiles', { tiles: { columns: 2, rows: 1, overlap: 0.2 } }],
  ])('%s is answered as by a fresh run', async (_what, more) => {
    const base = await run({ ...own, ...more });
    const numRuns = Math.ceil(QUESTIONS / 3);
    await fc.assert(
      fc.asyncProperty(question, (asked) => expectSame(base, asked)),
      { numRuns },
    );
  });

  test('takes the regions of a view by its name, and those of the result where it names none', async () => {
    const base = await run({ ...own, view: 'gate-2' });
    await expectSame(base, { confidence: 0.2 });
    await expectSame(await run(own), { view: 'gate-2', confidence: 0.3 });
    const asked = await jobs.service.asking({ regions: [], confidence: 0.3 }, null);
    const [image] = (await asked.imagesAt(base, [0])).map(({ outcome }) => outcome);
    expect(image).not.toHaveProperty('view');
    expect(image).not.toHaveProperty('regionCounts');
    // A later version of the view changes nothing in what was stored.
    const before = await readings(await jobs.service.asking({ confidence: 0.2 }, null), base);
    await views.put('gate-2', { paths: [], regions: [regionBetween('gate', 0.6, 1)] }, null);
    const after = await readings(await jobs.service.asking({ confidence: 0.2 }, null), base);
    expect(after).toEqual(before);
  });

  test('below the floor is refused with a reason, and an unknown view with its error', async () => {
    const base = await run(own);
    const asked = await jobs.service.asking({ confidence: 0.01 }, null);
    expect(() => asked.jobAsked(base)).toThrow('it keeps boxes above 0.05');
    await expectSame(await run({ ...own, confidence: 0.01 }), { confidence: 0.02 });
    await expect(jobs.service.asking({ view: 'none' }, null)).rejects.toMatchObject({
      code: 'view_not_found',
    });
  });
});
