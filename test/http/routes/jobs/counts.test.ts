/** Counts of jobs over HTTP: by image, folder, hour and day, as JSON and CSV. */
import { posix } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PictureTime } from '../../../../src/files/wall-time.js';
import { GROUPINGS } from '../../../../src/api/job-values.js';
import type { ImageOutcome } from '../../../../src/store/job.js';
import type { GroupBody, SumBody } from '../../../../src/http/routes/jobs/count-groups.js';
import type { JobCountsBody } from '../../../../src/http/routes/jobs/counts.js';
import { compose, get, ROOT, submitted, type Harness } from '../../../support/composed-app.js';
import { HeldJobs } from '../../../support/held-jobs.js';
import type { RegionCounts } from '../../../../src/api/schemas/image.js';
import { errorOutcome, okOutcome } from '../../../support/outcomes.js';

/** Times of pictures by their path. */
const TIMES: Record<string, PictureTime> = {
  [`${ROOT}/gate/a.jpg`]: { time: '2025-11-26T14:59:59', source: 'exif' },
  'gate/b.jpg': { time: '2025-11-26T14:00:00', source: 'file' },
  'c.jpg': { time: '2025-11-27T00:30:00', source: 'exif' },
};
const PATHS = [`${ROOT}/gate/a.jpg`, 'gate/b.jpg', 'c.jpg', 'd.jpg', 'north/20251126_153000.jpg'];
const withRegions = (outcome: ImageOutcome, regionCounts: RegionCounts): ImageOutcome => ({
  ...outcome,
  ...{ regionCounts },
});
const OUTCOMES = [
  okOutcome(['car', 'bus', 'car']),
  okOutcome([]),
  errorOutcome('invalid_image'),
  okOutcome(['car']),
  okOutcome(['truck']),
];

const openJobs = () =>
  HeldJobs.open({ readTime: (path) => () => Promise.resolve(TIMES[path] ?? null) });

async function begin(jobs: HeldJobs, paths = PATHS): Promise<[Harness, string]> {
  const app = compose({}, {}, jobs);
  return [app, await submitted(app, { image_paths: paths })];
}

async function countsOf(app: Harness, jobId: string, by: string): Promise<JobCountsBody> {
  const { status, body } = await get(app, `/v1/jobs/${jobId}/counts?by=${by}`);
  expect(status).toBe(200);
  return body as JobCountsBody;
}

async function csvOf(app: Harness, jobId: string, by: string): Promise<string[]> {
  const { body } = await get(app, `/v1/jobs/${jobId}/counts?by=${by}&format=csv`);
  return (body as string).trimEnd().split('\r\n');
}

test('hours and days hold images of every outcome and say where their times come from', async () => {
  await using jobs = await openJobs();
  const [app, jobId] = await begin(jobs);
  await jobs.finish(jobId, OUTCOMES);
  const total: SumBody = {
    images: 5,
    failed_images: 1,
    empty_images: 1,
    detections: 5,
    class_counts: { bus: 1, car: 3, truck: 1 },
    time_sources: { exif: 2, file: 1, none: 1, name: 1 },
  };
  const head = { job_id: jobId, status: 'completed', pending_images: 0, not_run_images: 0, total };
  const of = (group: string | null, counts: Partial<SumBody>): GroupBody => ({
    ...{ group, images: 1, failed_images: 0, empty_images: 0, detections: 0 },
    ...{ class_counts: {}, time_sources: {} },
    ...counts,
  });
  const noon = { images: 2, empty_images: 1, detections: 3, class_counts: { bus: 1, car: 2 } };
  const failed = { failed_images: 1, time_sources: { exif: 1 } };
  const truck = { detections: 1, class_counts: { truck: 1 } };
  const unknown = of(null, { detections: 1, class_counts: { car: 1 }, time_sources: { none: 1 } });
  expect(await countsOf(app, jobId, 'hour')).toEqual({
    ...head,
    by: 'hour',
    groups: [
      of('2025-11-26T14:00', { ...noon, time_sources: { exif: 1, file: 1 } }),
      of('2025-11-26T15:00', { ...truck, time_sources: { name: 1 } }),
      of('2025-11-27T00:00', failed),
      unknown,
    ],
  });
  expect(await countsOf(app, jobId, 'day')).toMatchObject({
    groups: [
      { group: '2025-11-26', images: 3, class_counts: { bus: 1, car: 2, truck: 1 } },
      { group: '2025-11-27', images: 1, failed_images: 1 },
      unknown,
    ],
  });
  expect((await get(app, `/v1/jobs/${jobId}/counts`)).body).toMatchObject({ by: 'hour' });
});

test('folders and images are named without the folders of the service', async () => {
  await using jobs = await openJobs();
  const [app, jobId] = await begin(jobs);
  await jobs.finish(jobId, OUTCOMES);
  const folders = await countsOf(app, jobId, 'folder');
  expect(folders.groups.map(({ group, images }) => [group, images])).toEqual([
    ['.', 2],
    ['gate', 2],
    ['north', 1],
  ]);
  const { groups } = await countsOf(app, jobId, 'image');
  expect(groups[0]).toEqual({
    ...{ group: 'gate/a.jpg', time: '2025-11-26T14:59:59', time_source: 'exif' },
    ...{ images: 1, failed_images: 0, empty_images: 0, detections: 3 },
    class_counts: { bus: 1, car: 2 },
  });
  expect(groups.map((each) => [each.group, each.time_source])).toEqual([
    ['gate/a.jpg', 'exif'],
    ['gate/b.jpg', 'file'],
    ['c.jpg', 'exif'],
    ['d.jpg', 'none'],
    ['north/20251126_153000.jpg', 'name'],
  ]);
});

test('a job that runs gives what there is and says what is missing; a cancelled one what was not run', async () => {
  await using jobs = await openJobs();
  const [app, jobId] = await begin(jobs);
  await jobs.progress(jobId, 2, OUTCOMES);
  const running = await get(app, `/v1/jobs/${jobId}/counts?by=image`);
  expect(running.headers.get('x-lattice-pending-images')).toBe('3');
  expect(running.body).toMatchObject({
    status: 'running',
    pending_images: 3,
    not_run_images: 0,
    total: { images: 2, failed_images: 0 },
    groups: [{ group: 'gate/a.jpg' }, { group: 'gate/b.jpg' }],
  });
  await jobs.service.cancel(jobId, null);
  expect(await countsOf(app, jobId, 'hour')).toMatchObject({
    status: 'failed',
    pending_images: 0,
    not_run_images: 3,
    total: { images: 2, failed_images: 0, empty_images: 1, detections: 3 },
    groups: [{ images: 2 }],
  });
});

test('the times that were read stay after a restart', async () => {
  await using jobs = await openJobs();
  const [app, jobId] = await begin(jobs);
  await jobs.finish(jobId, OUTCOMES);
  const before = await countsOf(app, jobId, 'image');
  await jobs.reopen();
  expect(await countsOf(compose({}, {}, jobs), jobId, 'image')).toEqual(before);
});

test('regions are counted where images have them', async () => {
  await using jobs = await openJobs();
  const [app, jobId] = await begin(jobs, ['c.jpg', 'd.jpg']);
  await jobs.finish(jobId, [
    withRegions(okOutcome(['car', 'bus']), { gate: { car: 1, bus: 1 }, exit: {} }),
    withRegions(okOutcome(['car', 'car']), { gate: { car: 2 } }),
  ]);
  const { total, groups } = await countsOf(app, jobId, 'day');
  expect(total.region_counts).toEqual({ exit: {}, gate: { bus: 1, car: 3 } });
  expect(groups.map((each) => each.region_counts)).toEqual([
    { exit: {}, gate: { bus: 1, car: 1 } },
    { gate: { car: 2 } },
  ]);
  expect(await csvOf(app, jobId, 'image')).toEqual([
    'image,time,time_source,images,failed_images,empty_images,detections,' +
      'class_counts.bus,class_counts.car,region_counts.gate.bus,region_counts.gate.car',
    'c.jpg,2025-11-27T00:30:00,exif,1,0,0,2,1,1,1,1',
    'd.jpg,,none,1,0,0,2,0,2,0,2',
  ]);
});

test('CSV comes as a file with a header, quoted, and says what is missing', async () => {
  await using jobs = await openJobs();
  const [app, jobId] = await begin(jobs, ['a "b", c.jpg', '=1.jpg', 'c.jpg']);
  await jobs.progress(jobId, 2, [okOutcome(['x,y']), errorOutcome('invalid_image')]);
  const { headers } = await get(app, `/v1/jobs/${jobId}/counts?by=image&format=csv`);
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(headers.get('content-disposition')).toBe(
    `attachment; filename="${jobId}.counts-by-image.csv"`,
  );
  expect(headers.get('x-lattice-pending-images')).toBe('1');
  expect(headers.get('access-control-expose-headers')).toContain('x-lattice-pending-images');
  expect(await csvOf(app, jobId, 'image')).toEqual([
    'image,time,time_source,images,failed_images,empty_images,detections,"class_counts.x,y"',
    '"a ""b"", c.jpg",,none,1,0,0,1,1',
    "'=1.jpg,,none,1,1,0,0,0",
  ]);
  expect(await csvOf(app, jobId, 'day')).toEqual([
    'day,images,failed_images,empty_images,detections,' +
      'time_sources.exif,time_sources.name,time_sources.file,time_sources.none,"class_counts.x,y"',
    ',2,1,0,1,0,0,0,2,1',
  ]);
});

test('images of a folder within a gap are one event, with the most boxes of each class in one image', async () => {
  await using jobs = await openJobs();
  const paths = [
    'n/20251126_140000.jpg',
    'n/20251126_140100.jpg',
    's/20251126_140030.jpg',
    'n/20251126_140201.jpg',
    'late.jpg',
  ];
  const [app, jobId] = await begin(jobs, paths);
  await jobs.finish(jobId, [
    okOutcome(['car']),
    okOutcome(['bus', 'car', 'car']),
    okOutcome(['car']),
    errorOutcome('invalid_image'),
    okOutcome([]),
  ]);
  const counted = await countsOf(app, jobId, 'event');
  expect(counted.total).toMatchObject({
    images: 5,
    failed_images: 1,
    empty_images: 1,
    detections: 4,
  });
  const best = (index: number) => ({ job_id: jobId, index, image_path: paths[index] });
  expect(counted.groups).toEqual([
    {
      ...{ group: '2025-11-26T14:00:00', last_time: '2025-11-26T14:01:00', camera: 'n' },
      ...{ images: 2, failed_images: 0, empty_images: 0, detections: 3 },
      ...{ class_counts: { bus: 1, car: 2 }, time_sources: { name: 2 }, best_image: best(1) },
    },
    {
      ...{ group: '2025-11-26T14:00:30', last_time: '2025-11-26T14:00:30', camera: 's' },
      ...{ images: 1, failed_images: 0, empty_images: 0, detections: 1 },
      ...{ class_counts: { car: 1 }, time_sources: { name: 1 }, best_image: best(2) },
    },
    {
      ...{ group: '2025-11-26T14:02:01', last_time: '2025-11-26T14:02:01', camera: 'n' },
      ...{ images: 1, failed_images: 1, empty_images: 0, detections: 0 },
      ...{ class_counts: {}, time_sources: { name: 1 }, best_image: null },
    },
    {
      ...{ group: null, last_time: null, camera: '.' },
      ...{ images: 1, failed_images: 0, empty_images: 1, detections: 0 },
      ...{ class_counts: {}, time_sources: { none: 1 }, best_image: null },
    },
  ]);
  const longer = await countsOf(app, jobId, 'event&event_gap_s=61&camera=all');
  expect(longer.groups.map(({ group, images, camera }) => [group, images, camera])).toEqual([
    ['2025-11-26T14:00:00', 4, null],
    [null, 1, null],
  ]);
  expect(await csvOf(app, jobId, 'event')).toEqual([
    'event,last_time,camera,best_image,images,failed_images,empty_images,detections,' +
      'time_sources.exif,time_sources.name,time_sources.file,time_sources.none,class_counts.bus,class_counts.car',
    '2025-11-26T14:00:00,2025-11-26T14:01:00,n,n/20251126_140100.jpg,2,0,0,3,0,2,0,0,1,2',
    '2025-11-26T14:00:30,2025-11-26T14:00:30,s,s/20251126_140030.jpg,1,0,0,1,0,1,0,0,0,1',
    '2025-11-26T14:02:01,2025-11-26T14:02:01,n,,1,1,0,0,0,1,0,0,0,0',
    ',,.,,1,0,1,0,0,0,0,1,0,0',
  ]);
});

test('parameters of events are refused where no events are asked for, and out of their range', async () => {
  await using jobs = await openJobs();
  const [app, jobId] = await begin(jobs);
  for (const [query, detail] of [
    ['event_gap_s=5', 'event_gap_s needs by=event.'],
    ['by=day&camera=all', 'camera needs by=event, static=exclude or static=only.'],
    ['by=event&event_gap_s=-1', 'event_gap_s'],
    ['by=event&event_gap_s=86401', 'event_gap_s'],
    ['by=event&event_gap_s=soon', 'event_gap_s is a number of seconds up to 86400.'],
    ['by=event&camera=gate', 'camera is one of folder, all, name.'],
  ] as const) {
    const { status, body } = await get(app, `/v1/jobs/${jobId}/counts?${query}`);
    expect([query, status, JSON.stringify(body)]).toEqual([
      query,
      422,
      expect.stringContaining(detail),
    ]);
  }
});

test('a job without an ended image has a header alone', async () => {
  await using jobs = await openJobs();
  const [app, jobId] = await begin(jobs);
  expect(await countsOf(app, jobId, 'folder')).toMatchObject({
    ...{ status: 'pending', pending_images: 5, groups: [] },
    total: { images: 0 },
  });
  for (const by of GROUPINGS) expect(await csvOf(app, jobId, by)).toHaveLength(1);
});

test('refusals: an unknown job, and values that do not exist', async () => {
  await using jobs = await openJobs();
  const [app, jobId] = await begin(jobs);
  expect(await get(app, '/v1/jobs/job_none/counts')).toMatchObject({
    status: 404,
    body: { code: 'job_not_found' },
  });
  for (const query of ['by=week', 'by=', 'format=xml', 'by=day&by=hour', 'zone=UTC']) {
    const { status, body } = await get(app, `/v1/jobs/${jobId}/counts?${query}`);
    expect([query, status, body]).toMatchObject([query, 422, { code: 'validation_failed' }]);
  }
  expect((await get(app, `/v1/jobs/${jobId}/counts?by=week`)).body).toMatchObject({
    detail: expect.stringContaining('by is one of image, event, folder, hour, day, folder_hour.'),
  });
});

test('whatever the images are, the groups of each kind add up to the job', async () => {
  const time = fc.constantFrom('2025-11-26T14:30:00', '2025-11-26T15:00:00', '2026-01-01T00:00:00');
  const image = fc.record({
    folder: fc.constantFrom('', 'a/', 'a/b/', 'b/'),
    classes: fc.option(fc.array(fc.constantFrom('car', 'bus', 'truck'), { maxLength: 4 })),
    taken: fc.option(
      fc.record({ time, source: fc.constantFrom('exif' as const, 'file' as const) }),
    ),
  });
  const times = new Map<string, PictureTime | null>();
  await using jobs = await HeldJobs.open({
    readTime: (path) => () => Promise.resolve(times.get(path) ?? null),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(image, { minLength: 1, maxLength: 12 }), async (images) => {
      const paths = images.map(({ folder }, index) => `${folder}${index}.jpg`);
      times.clear();
      images.forEach(({ taken }, index) => times.set(paths[index] ?? '', taken));
      const [app, jobId] = await begin(jobs, paths);
      await jobs.finish(
        jobId,
        images.map(({ classes }) =>
          classes === null ? errorOutcome('invalid_image') : okOutcome(classes),
        ),
      );
      const { body: summary } = await get(app, `/v1/jobs/${jobId}/summary`);
      for (const by of GROUPINGS) {
        const { total, groups } = await countsOf(app, jobId, by);
        expect(addedUp(groups)).toEqual({ ...total, time_sources: undefined });
        expect(total).toMatchObject({
          images: images.length,
          failed_images: summary.images.failed,
          empty_images: summary.images.empty,
        });
        const sources = Object.values(total.time_sources).reduce((sum, each) => sum + each, 0);
        expect(sources).toBe(images.length);
        if (by === 'event') {
          expect(total.detections).toBeLessThanOrEqual(summary.total_count as number);
          continue;
        }
        expect(total.detections).toBe(summary.total_count);
        const named = ({ group, time }: GroupBody) =>
          by === 'folder_hour' ? `${group} ${time}` : group;
        expect(new Set(groups.map(named)).size).toBe(groups.length);
      }
      const folders = new Set(paths.map((path) => posix.dirname(path)));
      expect((await countsOf(app, jobId, 'folder')).groups).toHaveLength(folders.size);
    }),
    { numRuns: 15 },
  );
});

function addedUp(groups: readonly GroupBody[]) {
  const sum = (value: (group: GroupBody) => number) =>
    groups.reduce((all, group) => all + value(group), 0);
  const names = new Set(groups.flatMap((group) => Object.keys(group.class_counts)));
  return {
    images: sum((group) => group.images),
    failed_images: sum((group) => group.failed_images),
    empty_images: sum((group) => group.empty_images),
    detections: sum((group) => group.detections),
    class_counts: Object.fromEntries(
      [...names].map((name) => [name, sum((group) => group.class_counts[name] ?? 0)]),
    ),
    time_sources: undefined,
  };
}
