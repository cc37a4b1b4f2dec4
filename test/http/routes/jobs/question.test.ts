/** Readings of a job with another question in the query: each is what a job with that question answers. */
import { DatabaseSync } from '@photostructure/sqlite';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JobResult } from '../../../../src/client/records.js';
import { ended, openTestJobs, TemporaryFolder, type TestJobs } from '../../../jobs/job-folder.js';
import { compose, get, post, ROOT, type Harness } from '../../../support/composed-app.js';
import { SeeingDetector } from '../../../support/seeing-detector.js';
import { regionBetween } from '../../../support/region-between.js';

let folder: TemporaryFolder;
let jobs: TestJobs;
let app: Harness;
beforeEach(async () => {
  folder = new TemporaryFolder();
  const detector = new SeeingDetector();
  jobs = await openTestJobs(folder, { imageRoots: [ROOT], scoreFloor: 0.05 }, detector);
  app = compose({}, { jobs: jobs.service, views: jobs.views, detector });
});
afterEach(async () => {
  await jobs[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function job(fields: object = {}): Promise<string> {
  const body = { job_type: 'batch_detect', image_paths: ['a.jpg', 'b.jpg'], ...fields };
  const accepted = await post(app, '/v1/jobs/submit', body);
  expect(accepted.status).toBe(202);
  await ended(jobs.service, accepted.body.job_id as string);
  return accepted.body.job_id as string;
}

const read = async (id: string, path: string) => get(app, `/v1/jobs/${id}/${path}`);
/** Without what differs from run to run. */
async function textOf(id: string, path: string): Promise<string> {
  const answer = await app.app.request(`/v1/jobs/${id}/${path}`);
  expect(answer.status, path).toBe(200);
  return (await answer.text()).replace(/"(?:processing_time_ms|date_created)":[^,}]*/g, '');
}
const GATE = regionBetween('gate', 0, 0.5);

describe('a question in the query', () => {
  const REGIONS = JSON.stringify([GATE]);
  const questions: [string, object][] = [
    ['confidence_threshold=0.3', { confidence_threshold: 0.3 }],
    ['classes=car,bus&confidence_threshold=0.1', { classes: ['car', 'bus'], confidence_threshold: 0.1 }],
    ['class_thresholds=car:0.1,truck:0.7', { class_thresholds: { car: 0.1, truck: 0.7 } }],
    [`regions=${encodeURIComponent(REGIONS)}`, { regions: [GATE] }],
    ['max_detections=1', { max_detections: 1 }],
    ['min_size=0.2', { min_size: 0.2 }],
  ]; // prettier-ignore

  test.each(questions)('%s is answered as by a job that asks it', async (query, fields) => {
    const [stored, fresh] = [await job(), await job(fields)];
    for (const path of [
      'images?limit=5',
      'images?outcome=found&sort=margin',
      'counts?by=image',
      'counts?by=folder&format=csv',
      ...['csv', 'coco', 'labelstudio', 'ndjson'].map((format) => `result?format=${format}`),
    ]) {
      const asked = await textOf(stored, `${path}&${query}`);
      expect(asked, path).toBe((await textOf(fresh, path)).replaceAll(fresh, stored));
    }
    const [asked, run] = [await read(stored, `result?${query}`), await read(fresh, 'result')];
    const totals = ({ body }: typeof asked) => ({
      ...(body as JobResult).result,
      processing_time_ms: 0,
    });
    expect(totals(asked)).toEqual(totals(run));
    const summaries = [await read(stored, `summary?${query}`), await read(fresh, 'summary')];
    expect(summaries[0]?.body).toEqual({ ...summaries[1]?.body, job_id: stored });
  });

  test('reads the regions of a view as it is now', async () => {
    const id = await job();
    await post(app, '/v1/views/gate-2', { regions: [GATE] }, {}, 'PUT');
    const { body } = await read(id, 'images?view=gate-2&confidence_threshold=0.1');
    expect(body.images[0]).toMatchObject({
      view: { name: 'gate-2', version: 1 },
      region_counts: { gate: { car: 1, bus: 1 } },
      total_count: 4,
    });
    expect(await read(id, 'counts?view=none')).toMatchObject({
      status: 404,
      body: { code: 'view_not_found' },
    });
  });

  test('is asked of both jobs of a comparison', async () => {
    const [one, other] = [await job(), await job({ confidence_threshold: 0.3 })];
    expect((await read(one, `changes?with=${other}`)).body.box_counts).toMatchObject({ gained: 2 });
    const same = await read(one, `changes?with=${other}&confidence_threshold=0.1`);
    expect(same.body.box_counts).toEqual({ gained: 0, lost: 0, changed: 0, same: 8 });
    const agreement = await read(one, `agreement?with=${other}&confidence_threshold=0.1`);
    expect(agreement.body.share).toBe(1);
  });

  test('shows samples below the threshold of the job', async () => {
    const id = await job();
    const { body } = await get(app, `/v1/samples?job=${id}&confidence_threshold=0.15`);
    expect(body).toMatchObject({
      confidence_threshold: 0.15,
      samples: [{ class: 'car', confidence: 0.2, margin: 0.05 }, { detections: 4 }],
    });
  });

  test('leaves the job, its events and its own result as they were', async () => {
    const id = await job();
    const before = [await textOf(id, 'result'), await textOf(id, 'status')];
    await read(id, 'result?confidence_threshold=0.1');
    expect([await textOf(id, 'result'), await textOf(id, 'status')]).toEqual(before);
    expect((await read(id, 'summary')).body.score_floor).toBe(0.05);
  });
});

describe('a question that the stored boxes cannot answer', () => {
  test.each([
    ['confidence_threshold=0.01', 'it keeps boxes above 0.05'],
    ['class_thresholds=car:0.01', 'it keeps boxes above 0.05'],
    ['iou_threshold=0.4', 'iou_threshold changes what the network finds'],
    ['tiles=auto', 'tiles changes what the network finds'],
    ['model_name=other.pt', 'model_name changes what the network finds'],
  ])('%s is refused with what would have to run', async (query, reason) => {
    const id = await job();
    for (const path of ['result', 'images', 'counts', 'summary', 'drawn']) {
      const { status, body } = await read(id, `${path}?${query}`);
      expect([status, body.code], path).toEqual([422, 'needs_new_run']);
      expect(body.detail).toContain(reason);
    }
  });

  test.each([
    'confidence_threshold=2',
    'classes=dragon',
    'confidence_treshold=0.4&max_detections=3',
    'regions=[]&view=a',
    'min_size=-1',
  ])('%s is refused as in a submission', async (query) => {
    const id = await job();
    for (const path of ['result', 'images', 'counts']) {
      const { status, body } = await read(id, `${path}?${query}`);
      expect([status, body.code], path).toEqual([422, 'validation_failed']);
    }
  });

  test('a job of an earlier release has its threshold as floor, and says so', async () => {
    const id = await job();
    await jobs.stop(0);
    const database = new DatabaseSync(join(folder.path, 'jobs.db'));
    // As it stored them.
    database.exec(
      "DELETE FROM image_boxes; UPDATE jobs SET settings = json_remove(settings, '$.scoreFloor')",
    );
    database.close();
    jobs = await jobs.reopen();
    app = compose({}, { jobs: jobs.service, views: jobs.views, detector: new SeeingDetector() });
    expect((await read(id, 'summary')).body.score_floor).toBe(0.5);
    const narrower = await read(id, 'counts?confidence_threshold=0.7&by=folder');
    expect(narrower.body.total.class_counts).toEqual({ car: 2 });
    const cars = await read(id, 'images?classes=car&min_size=0.05');
    expect(cars.body.images[0].class_counts).toEqual({ car: 1 });
    const wider = await read(id, 'images?confidence_threshold=0.3');
    expect(wider).toMatchObject({ status: 422, body: { code: 'needs_new_run' } });
    expect(wider.body.detail).toContain('boxes below its own threshold (0.5) were not kept');
  });
});
