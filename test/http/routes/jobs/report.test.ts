/** The report of a job over HTTP: pictures are really drawn, from files of a folder. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Annotator } from '../../../../src/annotate/annotate.js';
import { openFileAccess, type FileAccess } from '../../../../src/execution/here/file-access.js';
import type { AppDeps } from '../../../../src/http/app-deps.js';
import { loadConfig } from '../../../../src/settings/config.js';
import { ended, openTestJobs, TemporaryFolder } from '../../../jobs/job-folder.js';
import {
  compose,
  DRAWN,
  get,
  post,
  ROOT,
  submitted,
  type Harness,
} from '../../../support/composed-app.js';
import { errorOutcome, okOutcome } from '../../../support/outcomes.js';
import { SeeingDetector } from '../../../support/seeing-detector.js';

let folder: string;
let files: FileAccess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-report-'));
  const create = { width: 1_280, height: 960, channels: 3 as const, background: 'teal' };
  writeFileSync(join(folder, 'a.jpg'), await sharp({ create }).jpeg().toBuffer());
  files = await openFileAccess({ ...loadConfig({}, {}), imageRoots: [folder] });
});

afterAll(async () => {
  await files.close();
  rmSync(folder, { recursive: true, force: true });
});

const image_paths = ['a.jpg', 'gone.jpg', 'bad.jpg', 'late.jpg'];

async function finished(changes: Partial<AppDeps> = {}): Promise<{ app: Harness; id: string }> {
  const { maxPixels } = loadConfig({}, {});
  const annotator = new Annotator({ detector: files, dataDir: folder, maxPixels });
  const app = compose({ imageRoots: [folder] }, { annotator, ...changes });
  const id = await submitted(app, { image_paths, name: 'North <gate>' });
  const ok = okOutcome(['car', 'bus']);
  const failed = errorOutcome('invalid_image', `${folder}/bad.jpg is damaged.`);
  await app.jobs.finish(id, [ok, ok, failed, okOutcome([])]);
  return { app, id };
}

const picturesIn = (page: string) =>
  [...page.matchAll(/src="data:image\/jpeg;base64,([^"]*)"/g)].map(([, text = '']) =>
    Buffer.from(text, 'base64'),
  );

test('it is a page to look at, whose pictures are small and drawn', async () => {
  const { app, id } = await finished();
  const { status, headers, body } = await get(app, `/v1/jobs/${id}/report`);
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(headers.get('content-disposition')).toBe(`inline; filename="${id}.report.html"`);
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; img-src data:/);
  const page = body as string;
  expect(page).toMatch(/^<!doctype html>/);
  expect(page).toContain('North &lt;gate&gt;');
  expect(page).toContain('bad.jpg is damaged.');
  expect(page).toContain('No picture. &quot;gone.jpg&quot; was not found');
  expect(page).not.toContain(folder);
  const pictures = picturesIn(page);
  expect(pictures).toHaveLength(2);
  for (const picture of pictures) {
    const { format, width, height } = await sharp(picture).metadata();
    expect([format, width, height]).toEqual(['jpeg', 480, 360]);
  }
});

test('another question is answered, and what lies just below the thresholds is shown', async () => {
  using data = new TemporaryFolder();
  const detector = new SeeingDetector();
  const options = { imageRoots: [ROOT], scoreFloor: 0.05 };
  await using jobs = await openTestJobs(data, options, detector);
  const drawn: number[][] = [];
  const pictures: AppDeps['annotator']['pictures'] = (_image, { detections }) => {
    drawn.push(detections.map(({ confidence }) => confidence));
    return Promise.resolve([Buffer.from([255, 216])]);
  };
  const annotator = { ...DRAWN, pictures };
  const app = compose({}, { jobs: jobs.service, views: jobs.views, detector, annotator });
  const job = { job_type: 'batch_detect', image_paths: ['a.jpg'] };
  const id = (await post(app, '/v1/jobs/submit', job)).body.job_id as string;
  await ended(jobs.service, id);
  const pageOf = async (query = '') => {
    drawn.length = 0;
    const { status, body } = await get(app, `/v1/jobs/${id}/report${query}`);
    expect(status).toBe(200);
    return body as string;
  };
  expect(await pageOf()).toContain('bus 40 %, threshold 50 %');
  // A bus is almost a detection; a car of 0.2 is not.
  expect(drawn).toEqual(expect.arrayContaining([[0.4], [0.9, 0.6]]));
  expect(await pageOf('?confidence_threshold=0.3&max_detections=1')).toContain(
    'car 20 %, threshold 30 %',
  );
  expect(drawn).toEqual(expect.arrayContaining([[0.2], [0.9]]));
  expect(await pageOf('?classes=truck')).not.toContain('Almost detections');
  const below = await get(app, `/v1/jobs/${id}/report?confidence_threshold=0.01`);
  expect(below.body.code).toBe('needs_new_run');
});

test('the jobs with a tag are one run: their images, failures and counts are added up', async () => {
  const { app, id } = await finished();
  const tags = ['<A> run'];
  const path = `/v1/report?tag=${encodeURIComponent('<a> RUN')}`;
  expect((await get(app, path)).body.code).toBe('job_not_found');
  const failed = errorOutcome('invalid_image', `${folder}/bad.jpg is damaged.`);
  const alone = await submitted(app, { image_paths: ['a/bad.jpg'], tags, name: 'Part' });
  const more = await submitted(app, { image_paths, tags, name: 'Part' });
  await app.jobs.finish(alone, [failed]);
  expect((await get(app, path)).body.code).toBe('job_not_finished');
  await app.jobs.finish(more, [okOutcome(['car']), okOutcome([]), failed, failed]);
  const { status, headers, body } = await get(app, path);
  expect(status).toBe(200);
  expect(headers.get('content-disposition')).toBe('inline; filename="tag.report.html"');
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; img-src data:/);
  const page = body as string;
  expect(page).toContain('Report of a run');
  expect(page).toContain('<bdi>Part</bdi>');
  expect(page).toContain('&lt;a&gt; RUN');
  expect(page).not.toContain('The run failed');
  for (const [name, value] of [
    ['Images', 5],
    ['With a result', 2],
    ['Failed', 3],
    ['Boxes', 1],
  ]) {
    expect(page).toMatch(new RegExp(`<dt>${name}</dt>\\s*<dd>${value}</dd>`));
  }
  expect(page).toContain('a/bad.jpg');
  expect(page).not.toContain(id);
  // The surest box is the least sure one.
  expect(picturesIn(page)).toHaveLength(2);
  const other = await submitted(app, { tags, confidence_threshold: 0.9 });
  await app.jobs.finish(other, [okOutcome([])]);
  const refused = await get(app, path);
  expect([refused.status, refused.body.code]).toEqual([422, 'validation_failed']);
  expect(refused.body.detail).toContain('different settings');
  expect((await get(app, '/v1/report')).status).toBe(422);
  const foreign = { origin: 'http://evil.test', 'sec-fetch-site': 'cross-site' };
  expect((await get(app, path, foreign)).status).toBe(403);
});

test('an image of a run that was run again is in its report once, with its newest outcome', async () => {
  const { app } = await finished();
  const tags = ['run'];
  const first = await submitted(app, { image_paths, tags });
  const failed = errorOutcome('invalid_image', 'It is damaged.');
  await app.jobs.finish(first, [okOutcome(['car']), failed, failed, okOutcome([])]);
  const { body: retry } = await post(app, `/v1/jobs/${first}/retry`, {});
  await app.jobs.finish(retry.job_id as string, [okOutcome(['bus', 'bus']), failed]);
  const page = (await get(app, '/v1/report?tag=run')).body as string;
  for (const [name, value] of [
    ['Images', 4],
    ['With a result', 3],
    ['Failed', 1],
    ['Boxes', 3],
  ]) {
    expect(page).toMatch(new RegExp(`<dt>${name}</dt>\\s*<dd>${value}</dd>`));
  }
  expect(page).toContain('bad.jpg');
  expect(page.match(/It is damaged\./g)).toHaveLength(1);
});

test('it is for ended jobs, for known fields, and not for pages of other origins', async () => {
  const { app, id } = await finished();
  const running = await submitted(app, { image_paths });
  expect((await get(app, `/v1/jobs/${running}/report`)).body.code).toBe('job_not_finished');
  expect((await get(app, '/v1/jobs/job_none/report')).status).toBe(404);
  expect((await get(app, `/v1/jobs/${id}/report?format=pdf`)).status).toBe(422);
  const foreign = { origin: 'http://evil.test', 'sec-fetch-site': 'cross-site' };
  expect((await get(app, `/v1/jobs/${id}/report`, foreign)).status).toBe(403);
});

test('a job without boxes and without a start has a report; a few are made at a time', async () => {
  const { app } = await finished();
  const id = await submitted(app, { image_paths });
  await app.jobs.service.cancel(id, null);
  const { status, body } = await get(app, `/v1/jobs/${id}/report`);
  expect(status).toBe(200);
  expect(body).toContain('No box was found.');
  let release: (jpegs: Buffer[]) => void = () => undefined;
  const held = new Promise<Buffer[]>((resolve) => (release = resolve));
  const slow = await finished({ annotator: { ...DRAWN, pictures: () => held } });
  const path = `/v1/jobs/${slow.id}/report`;
  const first = [get(slow.app, path), get(slow.app, path)];
  const refused = await get(slow.app, path);
  expect([refused.status, refused.body.code]).toEqual([503, 'overloaded']);
  release([Buffer.from([255, 216])]);
  for (const each of first) expect((await each).status).toBe(200);
});
