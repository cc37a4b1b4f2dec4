/** The page of a report: what it says, that it loads nothing, and that it stays below 5 MB whatever the job has. */
import { expect, test } from 'vitest';
import { DEFAULT_PARAMETERS } from '../../src/api/options.js';
import { NO_FIGURES } from '../../src/api/job-figures.js';
import type { ModelDescription } from '../../src/api/schemas/model.js';
import type { TimeSource } from '../../src/files/wall-time.js';
import { readReport, type ReportSource } from '../../src/report/read-report.js';
import { reportPage } from '../../src/report/report-page.js';
import { CountSum, SumsByHour } from '../../src/store/count-sum.js';
import type { ImageEntry, Job } from '../../src/store/job.js';
import { specOf } from '../jobs/job-folder.js';
import { errorOutcome, okOutcome } from '../support/outcomes.js';

const EVIL = '<script>alert("1")</script><img src=http://evil.test/a.png onerror=\'a()\'>';
const LIMIT = 5 * 1024 * 1024;

function jobOf(fields: Partial<Job> = {}): Job {
  return {
    ...NO_FIGURES,
    jobId: 'job_1',
    spec: specOf({ options: { ...DEFAULT_PARAMETERS, modelName: 'm.pt', classes: null } }),
    status: 'completed',
    imageCount: 4,
    finishedImages: 3,
    failedImages: 1,
    models: [
      { name: 'm.pt', digest: '0123456789abcdef', source: 's', precision: 'f32', images: 2 },
    ],
    retryOf: null,
    watch: null,
    submittedAt: 1_795_263_399,
    startedAt: 1_795_263_400,
    completedAt: 1_795_263_406,
    workerId: 'w',
    error: null,
    keptUntil: null,
    ...fields,
  };
}

interface Given extends Partial<ReportSource> {
  entries?: ImageEntry[];
  /** Folders and hours, each of one image with a box of this class. */
  groups?: [folder: string, hour: string, name: string][];
  /** Further images, by the source of their times. */
  sources?: (TimeSource | null)[];
}

function sourceOf({ entries = [], groups = [], sources = [], ...given }: Given): ReportSource {
  const sums = new SumsByHour();
  const total = new CountSum();
  for (const [folder, hour, name] of groups) {
    const image = {
      ...{ index: 0, path: '', failed: false, taken: null },
      classCounts: { [name]: 1 },
      regionCounts: { [`gate of ${folder}`]: { [name]: 1 } },
    };
    sums.of(folder, hour).add(image);
    total.add(image);
  }
  for (const source of sources) {
    const taken = source && { time: '2025-11-26T14:00:00', source };
    total.add({
      index: 0,
      path: '',
      failed: false,
      taken,
      classCounts: {},
      regionCounts: {},
    });
  }
  const imagePages = async function* () {
    yield await Promise.resolve(entries);
  };
  return {
    of: 'job',
    job: jobOf(),
    imagePages: imagePages(),
    counts: { sums: sums.rows(), total },
    keptPages: null,
    models: [],
    hide: (text) => text.replaceAll('/srv/images/', ''),
    draw: () => Promise.resolve({ jpeg: Buffer.from('jpeg') }),
    ...given,
  };
}

const pageOf = async (given: Given) => reportPage(await readReport(sourceOf(given)), '1.2.3');

/** Addresses of attributes and of the style. */
const addressesIn = (page: string) =>
  [
    ...page.matchAll(
      /(?:\b(?:src|href|srcset|action|data|poster|xlink:href)\s*=\s*"|url\()([^")]*)/g,
    ),
  ].map(([, address = '']) => address);

const ok = (index: number, path: string): ImageEntry => ({ index, path, outcome: okOutcome() });

test('it says what the job was and what came of it', async () => {
  const licensed = { name: 'm.pt', digest: '0123456789abcdef', licence: 'MIT' } as ModelDescription;
  const page = await pageOf({
    entries: [ok(0, '/srv/images/a.jpg'), ok(1, 'b.jpg'),
      { index: 2, path: '/srv/images/c.jpg', outcome: errorOutcome('invalid_image', '/srv/images/c.jpg is cut.') },
      { index: 3, path: 'd.jpg', outcome: null }],
    groups: [['gate', '2025-11-26T14', 'car'], ['', '', 'bus']],
    models: [licensed],
    job: jobOf({ spec: { ...jobOf().spec, leftOut: { HEIC: 6 } } }),
  }); // prettier-ignore
  for (const words of [
    ...['2026-11-21', 'It ran for 6 s', '0.500', 'm.pt', '0123456789abcdef', 'f32', 'MIT', '50 %'],
    ...[
      'all classes of the model',
      'gate',
      'The image folder itself',
      '2025-11-26 14:00',
      'Not known',
    ],
    ...['Image cannot be decoded', 'invalid_image', 'c.jpg is cut.', '6 files left out: 6 HEIC'],
    ...[
      'The surest boxes',
      'The least sure boxes',
      'car 90 %, threshold 50 %',
      'lattice-core 1.2.3',
    ],
  ]) {
    expect(page.replaceAll('\u00a0', ' ')).toContain(words);
  }
  expect(page).not.toContain('/srv/images');
  expect(page).not.toContain('Almost detections');
});

test('hours are told with where the times come from, and a run is called a run', async () => {
  const groups: Given['groups'] = [['gate', '2025-11-26T14', 'car']];
  const page = await pageOf({ of: 'run', groups, sources: ['exif', 'file', 'file', null] });
  expect(page).toContain('1 image: the time that the camera wrote into the file; ');
  expect(page).toContain('2 images: the time of the last change of the file, which may be that');
  expect(page).toContain('Report of a run');
  expect(page).not.toContain(jobOf().jobId);
});

test('it says how near a run was to the network alone, where that was measured', async () => {
  const words = 'The network alone does 62.1 images/s on plain pixels of these shapes';
  const page = await pageOf({ network: { run: 59, alone: 62.1 } });
  expect(page).toContain(words);
  expect(page).toContain('the run had 95 % of it.');
  expect(await pageOf({ network: { run: 60, alone: 50 } })).toContain(
    'the run had more (120 %), so',
  );
  expect(await pageOf({})).not.toContain('The network alone');
});

test('names of others are text, and nothing is loaded', async () => {
  const { labels } = jobOf().spec;
  const evil = { ...okOutcome([EVIL]), status: 'ok' as const };
  const entries: ImageEntry[] = [
    { index: 0, path: EVIL, outcome: evil as never },
    { index: 1, path: EVIL, outcome: errorOutcome('invalid_image', EVIL) },
  ];
  const page = await pageOf({
    job: jobOf({
      status: 'failed',
      error: { ...(errorOutcome('cancelled', EVIL) as never as { error: Job['error'] }).error! },
      spec: { ...jobOf().spec, labels: { ...labels, name: EVIL, tags: [EVIL], notes: EVIL } },
      models: [{ name: EVIL, digest: EVIL, source: EVIL, precision: EVIL, images: 1 }],
    }),
    ...{ entries, groups: [[EVIL, '2025-11-26T14', EVIL]] },
  });
  expect(page).toContain('&lt;script&gt;');
  expect(page).not.toMatch(/<script|<img src=http|<link|<iframe|<object|<form|<a\b|@import/i);
  const addresses = addressesIn(page);
  expect(addresses.length).toBeGreaterThan(0);
  expect(addresses.filter((address) => !address.startsWith('data:image/jpeg;base64,'))).toEqual([]);
  const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page) ?? [];
  expect(policy.replaceAll('&#39;', "'")).toMatch(
    /^default-src 'none'; img-src data:; style-src 'unsafe-inline'/,
  );
});

test('readers that do not see find their way', async () => {
  const page = await pageOf({ entries: [ok(0, 'a.jpg')], groups: [['f', '', 'car']] });
  for (const tag of ['<html lang="en">', '<header>', '<main>', '<footer>', '<h1>']) {
    expect(page).toContain(tag);
  }
  const images = page.match(/<img[^>]*>/g) ?? [];
  expect(images.length).toBeGreaterThan(0);
  for (const image of images) expect(image).toMatch(/alt="a\.jpg with 1 box drawn: car 90 %/);
  for (const cell of page.match(/<th\b[^>]*>/g) ?? []) expect(cell).toMatch(/scope="(?:row|col)"/);
  const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const labels = [...page.matchAll(/aria-labelledby="([^"]*)"/g)].map(([, id]) => id);
  expect(ids).toEqual(expect.arrayContaining(labels));
});

test('rows beyond a number are added up, and the file stays below 5 MB', async () => {
  const long = (index: number) => `${index}${'&'.repeat(5_000)}`;
  const hour = (index: number) => `${2000 + index}-11-26T14`;
  const entries = Array.from({ length: 200 }, (_, index) =>
    index % 2 === 0 ? ok(index, long(index)) : {
      ...{ index, path: long(index), outcome: errorOutcome('invalid_image', long(index)) },
    }); // prettier-ignore
  let drawn = 0;
  const page = await pageOf({
    entries,
    groups: Array.from({ length: 500 }, (_, index) => [long(index), hour(index), long(index)]),
    draw: (_path, _boxes, most) => {
      expect(most).toBe(480);
      drawn += 1;
      return Promise.resolve({ jpeg: Buffer.alloc(480_000) });
    },
  });
  expect(drawn).toBe(16);
  expect(Buffer.byteLength(page)).toBeLessThan(LIMIT);
  expect(page).toContain('The report has no room for more pictures.');
  for (const words of ['470 more folders', '452 more hours', '440 more classes', '440 more']) {
    expect(page).toContain(words);
  }
  expect(page).toContain('and 95 more images');
});

test('a picture that is gone is said to be gone', async () => {
  const page = await pageOf({
    entries: [ok(0, 'a.jpg')],
    draw: () => Promise.resolve({ leftOut: '"a.jpg" was not found.' }),
  });
  expect(page).toContain('No picture. &quot;a.jpg&quot; was not found.');
  expect(page).not.toContain('<img');
});
