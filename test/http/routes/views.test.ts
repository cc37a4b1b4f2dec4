/** Views over HTTP: their routes, and what becomes of images and jobs that use them. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Detection, ImageResult } from '../../../src/api/schemas/image.js';
import type {
  DetectResponse,
  ImageEntry,
  JobResult,
  MultiImageResult,
  ViewList,
} from '../../../src/client/records.js';
import type { DetectRequest } from '../../../src/execution/detector.js';
import { webhookRecord } from '../../../src/answers/result-record.js';
import { ApiKeys } from '../../../src/http/access/api-keys.js';
import { refineDetections } from '../../../src/boxes/refine-detections.js';
import { ended, openTestJobs, TemporaryFolder, type TestJobs } from '../../jobs/job-folder.js';
import { compose, get, post, ROOT, type Harness } from '../../support/composed-app.js';
import { FakeDetector } from '../../support/fake-detector.js';
import { foundIn } from '../../support/found-in.js';
import { regionBetween } from '../../support/region-between.js';
import { ScriptedDetector } from '../../support/scripted-detector.js';

const IMAGE = { width: 100, height: 100 };
const box = (name: string, left: number, top: number): Detection => ({
  class: name,
  confidence: 0.9,
  box: [left, top, left + 10, top + 10],
});
/** In the picture's upper left, upper right and lower right quarter. */
const FOUND = [box('car', 10, 10), box('truck', 60, 10), box('car', 60, 60)];

/** Finds the same boxes in every picture, and does with them what the request wants. */
class RefiningDetector extends FakeDetector {
  readonly #catalogue = new ScriptedDetector();

  override models = () => this.#catalogue.models();
  override prepare = (name: string) => this.#catalogue.prepare(name);

  override async detect(request: DetectRequest): Promise<ImageResult> {
    const result = await super.detect(request);
    return { ...result, image: IMAGE, ...refineDetections(foundIn(IMAGE, FOUND), request.options) };
  }
}

const LEFT = regionBetween('gate', 0, 0.5);
const RIGHT = regionBetween('gate', 0.5, 1);

let folder: TemporaryFolder;
let jobs: TestJobs;
let app: Harness;

function open(over: TestJobs, overrides: Parameters<typeof compose>[1] = {}): Harness {
  return compose(
    {},
    { jobs: over.service, views: over.views, detector: over.detector, ...overrides },
  );
}
beforeEach(async () => {
  folder = new TemporaryFolder();
  jobs = await openTestJobs(folder, { imageRoots: [ROOT] }, new RefiningDetector());
  app = open(jobs);
});
afterEach(async () => {
  await jobs[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const put = (name: string, body: unknown, headers = {}, on = app) =>
  post(on, `/v1/views/${name}`, body, headers, 'PUT');
const remove = (name: string) => get(app, `/v1/views/${name}`, {}, 'DELETE');
const detect = async (fields: object) => {
  const body = { image_path: 'a.jpg', classes: ['*'], ...fields };
  return (await post(app, '/v1/inference/detect', body)).body as DetectResponse;
};

async function job(fields: object): Promise<string> {
  const body = { job_type: 'batch_detect', image_paths: ['a.jpg'], ...fields };
  const { status, body: accepted } = await post(app, '/v1/jobs/submit', body);
  expect(status).toBe(202);
  await ended(jobs.service, accepted.job_id as string);
  return accepted.job_id as string;
}
const resultOf = async (id: string) =>
  (await get(app, `/v1/jobs/${id}/result`)).body as JobResult & { result: MultiImageResult };
const viewOf = (entry: ImageEntry) => (entry.status === 'ok' ? entry.view : undefined);

describe('a view', () => {
  test('is made, read, listed, changed and deleted', async () => {
    expect(await get(app, '/v1/views')).toMatchObject({ status: 200, body: { views: [] } });
    const made = await put('north', { regions: [LEFT], paths: ['north/**'] });
    expect(made).toMatchObject({
      status: 201,
      body: { name: 'north', version: 1, regions: [LEFT], paths: ['north/**'] },
    });
    expect(made.body.stored_at).toBeGreaterThan(1.7e9);
    expect((await get(app, '/v1/views/north')).body).toEqual(made.body);
    const changed = await put('north', { regions: [RIGHT] });
    expect(changed).toMatchObject({
      status: 200,
      body: { version: 2, regions: [RIGHT], paths: [] },
    });
    await put('gate.2-a_b', { regions: [LEFT] });
    const { views } = (await get(app, '/v1/views')).body as ViewList;
    expect(views.map(({ name, version }) => [name, version])).toEqual([
      ['gate.2-a_b', 1],
      ['north', 2],
    ]);
    expect(await remove('north')).toMatchObject({ status: 204, body: '' });
    const gone = { status: 404, body: { code: 'view_not_found' } };
    expect(await get(app, '/v1/views/north')).toMatchObject(gone);
    expect(await remove('north')).toMatchObject(gone);
  });

  test('keeps its version where nothing changes, and never has one twice', async () => {
    const content = { regions: [LEFT], paths: ['a/**'] };
    const first = await put('north', content);
    const nulls = { regions: [{ ...LEFT, classes: null, anchor: null }], paths: ['a/**'] };
    const again = await put('north', nulls);
    expect(again).toMatchObject({ status: 200, body: first.body });
    await remove('north');
    expect(await put('north', content)).toMatchObject({ status: 201, body: { version: 3 } });
  });

  test('is not overwritten by a change that began before another one was stored', async () => {
    const at = (x: number) => put('north', { regions: [regionBetween('gate', 0, x)] });
    for (const [version, x] of [1, 2].entries()) {
      const both = await Promise.all([at(0.1 * x), at(0.3 * x)]);
      expect(both).toMatchObject([
        { body: { version: version + 1 } },
        { status: 409, body: { code: 'view_changed' } },
      ]);
    }
    const same = await Promise.all([at(0.9), at(0.9)]);
    expect(same).toMatchObject([
      { status: 200, body: { version: 3 } },
      { status: 200, body: { version: 3 } },
    ]);
  });

  test('can be read as it was', async () => {
    await put('north', { regions: [LEFT] });
    await put('north', { regions: [RIGHT] });
    await remove('north');
    const version = (number: number | string) => get(app, `/v1/views/north?version=${number}`);
    expect((await version(1)).body).toMatchObject({ version: 1, regions: [LEFT] });
    expect((await version(2)).body).toMatchObject({ version: 2, regions: [RIGHT] });
    for (const none of [3, 4]) expect(await version(none)).toMatchObject({ status: 404 });
    expect(await version(0)).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
  });

  test('has its 100 last versions kept', async () => {
    const count = 103;
    for (let at = 1; at <= count; at += 1) {
      await put('north', { regions: [regionBetween('gate', 0, at / 200)] });
    }
    const statuses = await Promise.all(
      [1, 3, 4, count].map(async (at) => (await get(app, `/v1/views/north?version=${at}`)).status),
    );
    expect(statuses).toEqual([404, 404, 200, 200]);
  });

  test('survives a restart of the store, with its versions and its paths', async () => {
    await put('north', { regions: [LEFT] });
    const kept = await put('north', { regions: [RIGHT], paths: ['north/**'] });
    await put('south', { regions: [LEFT] });
    await remove('south');
    jobs = await jobs.reopen();
    app = open(jobs, { detector: new RefiningDetector() });
    expect((await get(app, '/v1/views')).body).toEqual({ views: [kept.body] });
    expect((await get(app, '/v1/views/north?version=1')).body).toMatchObject({ regions: [LEFT] });
    expect(await detect({ image_path: 'north/1.jpg' })).toMatchObject({
      view: { name: 'north', version: 2 },
    });
    expect(await put('south', { regions: [LEFT] })).toMatchObject({ body: { version: 3 } });
  });

  test('belongs to its API key', async () => {
    const keys = ApiKeys.parse('north-gate-0123456789 north\nsouth-gate-0123456789 south\n');
    const closed = open(jobs, { apiKeys: keys });
    const as = (name: string) => ({ authorization: `Bearer ${name}-gate-0123456789` });
    await put('gate', { regions: [LEFT], paths: ['**'] }, as('north'), closed);
    expect((await get(closed, '/v1/views', as('south'))).body).toEqual({ views: [] });
    const image = { image_path: 'a.jpg' };
    const found = async (name: string, more = {}) =>
      (await post(closed, '/v1/inference/detect', { ...image, ...more }, as(name))).body as object;
    expect(await found('north')).toMatchObject({ view: { name: 'gate' } });
    expect(await found('south')).not.toHaveProperty('view');
    expect(await found('south', { view: 'gate' })).toMatchObject({ code: 'unknown_view' });
  });
});

test.each([
  [{}, '#/regions'],
  [{ regions: [] }, '#/regions'],
  [{ regions: [{ ...LEFT, polygon: [[0, 0], [1, 1], [1, 0], [0, 1]] }] }, '#/regions/0/polygon'], // prettier-ignore
  [{ regions: [LEFT, RIGHT] }, '#/regions/1/name'],
  [{ regions: [LEFT], paths: 'north/**' }, '#/paths'],
  [{ regions: [LEFT], paths: [''] }, '#/paths/0'],
  [{ regions: [LEFT], paths: ['a', '/srv/images/**'] }, '#/paths/1'],
  [{ regions: [LEFT], paths: Array(21).fill('a') }, '#/paths'],
  [{ regions: [LEFT], name: 'north' }, '#/name'],
])('%j is no view', async (body, pointer) => {
  const refused = await put('north', body);
  expect(refused).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
  expect(refused.body.errors[0].pointer).toBe(pointer);
});

test.each(['a b', '-a', '.a', 'é', 'x'.repeat(65)])('%j is no name of a view', async (name) => {
  const path = encodeURIComponent(name);
  expect(await put(path, { regions: [LEFT] })).toMatchObject({
    status: 422,
    body: { code: 'validation_failed' },
  });
  expect(await get(app, `/v1/views/${path}`)).toMatchObject({
    status: 404,
    body: { code: 'view_not_found' },
  });
});

describe('an image', () => {
  test('has the regions of the view that its request names', async () => {
    await put('north', {
      regions: [LEFT, regionBetween('mask', 0.5, 1, { ignore: true, classes: ['truck'] })],
    });
    const found = await detect({ view: 'north' });
    expect(found).toMatchObject({
      view: { name: 'north', version: 1 },
      region_counts: { gate: { car: 1 } },
      total_count: 2,
    });
    expect(found.detections.map(({ regions }) => regions)).toEqual([['gate'], []]);
    // Workers know regions only.
    expect(jobs.detector.requests.at(-1)?.options).toMatchObject({ view: null, regions: [{}, {}] });
  });

  test('has the regions of its request, and says no view', async () => {
    await put('north', { regions: [LEFT], paths: ['**'] });
    const found = await detect({ regions: [regionBetween('right', 0.5, 1)] });
    expect(found).toMatchObject({ region_counts: { right: { truck: 1, car: 1 } } });
    expect(found).not.toHaveProperty('view');
    const none = await detect({ regions: [] });
    expect(none).not.toHaveProperty('view');
    expect(none).not.toHaveProperty('region_counts');
    expect(none.detections[0]).not.toHaveProperty('regions');
  });

  test.each([
    ['north/1.jpg', 'north'],
    ['./north//2026/1.jpg', 'north'],
    [`${ROOT}/north/1.jpg`, 'north'],
    ['north/gate/1.jpg', 'gate'],
    ['north/gate/2026/1.jpg', 'north'],
    ['northern/1.jpg', undefined],
    ['caf\u00e9/1.jpg', 'accents'],
    ['b/x.jpg', 'b'],
  ])('at %s has the view %s, by the longest pattern', async (image_path, view) => {
    await put('north', { regions: [LEFT], paths: ['south/**', 'north/**'] });
    await put('gate', { regions: [LEFT], paths: ['north/gate/*'] });
    await put('accents', { regions: [LEFT], paths: ['cafe\u0301/*'] });
    // Between patterns of one length, that of the first name counts.
    await put('c', { regions: [LEFT], paths: ['b/*.jpg'] });
    await put('b', { regions: [LEFT], paths: ['*/x.jpg'] });
    expect((await detect({ image_path })).view?.name).toBe(view);
  });

  test('that is sent has no path', async () => {
    await put('all', { regions: [LEFT], paths: ['**'] });
    const headers = { 'content-type': 'image/jpeg' };
    const send = async (query: string) =>
      app.app.request(`/v1/inference/detect${query}`, { method: 'POST', headers, body: 'pixels' });
    expect(await (await send('')).json()).not.toHaveProperty('view');
    expect(await (await send('?view=all')).json()).toMatchObject({ view: { name: 'all' } });
  });

  test('with a view that is not there is refused', async () => {
    expect(
      await post(app, '/v1/inference/detect', { image_path: 'a.jpg', view: 'no' }),
    ).toMatchObject({
      status: 422,
      body: { code: 'unknown_view', errors: [{ pointer: '#/view' }] },
    });
  });
});

describe('a job', () => {
  const MANY = Array.from({ length: 40 }, (_, at) => `${at}.jpg`);

  /** Runs `change` while the first image is in the detector, which has few images at a time. */
  function atFirstImage(change: () => Promise<unknown>): Promise<unknown> {
    jobs.detector.window = 1;
    jobs.detector.delayMs = 20;
    return new Promise((resolve) => {
      jobs.detector.answer = ({ path }) => {
        if (path === MANY[0]) resolve(change());
        return 'ok';
      };
    });
  }

  test('keeps what it used when the view changes or goes', async () => {
    await put('north', { regions: [LEFT] });
    const id = await job({ view: 'north', image_paths: ['a.jpg', 'b.jpg'] });
    const read = async () =>
      [
        await resultOf(id),
        (await get(app, `/v1/jobs/${id}/summary`)).body as object,
        (await get(app, `/v1/jobs/${id}/images`)).body as object,
        (await get(app, `/v1/jobs/${id}/result?format=csv`)).body as string,
      ] as const;
    const before = await read();
    expect(before[0].result).toMatchObject({
      region_counts: { gate: { car: 2 } },
      images: [{ view: { name: 'north', version: 1 }, region_counts: { gate: { car: 1 } } }, {}],
    });
    await put('north', { regions: [RIGHT] });
    expect(await read()).toEqual(before);
    await remove('north');
    expect(await read()).toEqual(before);
    jobs = await jobs.reopen();
    app = open(jobs, { detector: new RefiningDetector() });
    expect(await read()).toEqual(before);
  });

  test('has for each image the view of the moment at which it runs', async () => {
    await put('north', { regions: [LEFT] });
    const change = atFirstImage(() => put('north', { regions: [RIGHT] }));
    const id = await job({ view: 'north', image_paths: MANY });
    await change;
    const { images, region_counts } = (await resultOf(id)).result;
    expect(images[0]).toMatchObject({ view: { version: 1 }, region_counts: { gate: { car: 1 } } });
    expect(images.at(-1)).toMatchObject({
      view: { version: 2 },
      region_counts: { gate: { truck: 1, car: 1 } },
    });
    const changed = images.filter((each) => viewOf(each)?.version === 2).length;
    expect(region_counts).toEqual({ gate: { car: MANY.length, truck: changed } });
  });

  test('has by the path of each image the view that is for it', async () => {
    await put('north', { regions: [LEFT], paths: ['north/**'] });
    await put('south', { regions: [regionBetween('exit', 0.9, 1)], paths: ['south/**'] });
    const id = await job({ image_paths: ['north/1.jpg', 'south/1.jpg', 'east/1.jpg'] });
    const { images, region_counts } = (await resultOf(id)).result;
    expect(images.map((each) => viewOf(each)?.name)).toEqual(['north', 'south', undefined]);
    expect(region_counts).toEqual({ exit: {}, gate: { car: 1 } });
    const summary = (await get(app, `/v1/jobs/${id}/summary`)).body;
    expect(summary).toMatchObject({ region_counts, request: { view: null, regions: null } });
  });

  test('without regions says nothing of them', async () => {
    const id = await job({ image_paths: ['a.jpg', 'b.jpg'] });
    const texts = [await resultOf(id), (await get(app, `/v1/jobs/${id}/summary`)).body];
    expect(texts.map((each) => JSON.stringify(each)).join()).not.toContain('region_counts');
  });

  test('whose view is gone before an image runs fails with unknown_view, and is not retried', async () => {
    await put('north', { regions: [LEFT] });
    await jobs.views.remove('north', null);
    const spec = { job_type: 'batch_detect', image_paths: ['a.jpg'], view: 'north' };
    expect(await post(app, '/v1/jobs/submit', spec)).toMatchObject({
      status: 422,
      body: { code: 'unknown_view' },
    });
    await put('north', { regions: [LEFT] });
    const change = atFirstImage(() => remove('north'));
    const id = await job({ view: 'north', image_paths: MANY });
    await change;
    const { images } = (await resultOf(id)).result;
    expect(images[0]).toMatchObject({ status: 'ok' });
    expect(images.at(-1)).toMatchObject({ status: 'error', error: { code: 'unknown_view' } });
    expect(await post(app, `/v1/jobs/${id}/retry`, '')).toMatchObject({
      status: 422,
      body: { code: 'unknown_view' },
    });
  });

  test('says its regions in the message of its webhook, also without its images', async () => {
    await put('north', { regions: [LEFT, regionBetween('none', 0.99, 1)] });
    const id = await job({ view: 'north', image_paths: ['a.jpg', 'b.jpg'] });
    const ended = await jobs.service.get(id, null);
    const record = async (repeats: number) => {
      const pages = async function* () {
        for (let at = 0; at < repeats; at += 1) yield* jobs.service.imagePages(id);
      };
      return JSON.parse(await webhookRecord(ended, pages(), String)) as {
        result_url?: string;
        result: unknown;
      };
    };
    const short = await record(1);
    expect(short).toMatchObject({
      result: {
        region_counts: { gate: { car: 2 }, none: {} },
        images: [{ region_counts: {} }, {}],
      },
    });
    const long = await record(2_000);
    expect(long.result_url).toBe(`/v1/jobs/${id}/result`);
    expect(long.result).toMatchObject({ region_counts: { gate: { car: 4_000 }, none: {} } });
  });

  test('is exported with the regions of each box', async () => {
    await put('north', {
      regions: [LEFT, regionBetween('a;b', 0, 0.5), regionBetween('all', 0, 1)],
    });
    const id = await job({ view: 'north' });
    const file = async (format: string) =>
      (await get(app, `/v1/jobs/${id}/result?format=${format}`)).body as unknown;
    const { annotations } = (await file('coco')) as { annotations: Detection[] };
    expect(annotations.map(({ regions }) => regions)).toEqual([
      ['gate', 'a;b', 'all'],
      ['all'],
      ['all'],
    ]);
    const [header, ...lines] = ((await file('csv')) as string).trimEnd().split('\r\n');
    expect(
      header?.endsWith(
        ',regions,alternative,alternative_confidence,model_digest,precision,latitude,longitude',
      ),
    ).toBe(true);
    expect(lines.map((line) => line.replace(/^.*?yolov8n\.pt,/, ''))).toEqual([
      '"[""gate"",""a;b"",""all""]",,,,,,',
      'all,,,,,,',
      'all,,,,,,',
    ]);
    expect(await file('ndjson')).toMatchObject({
      view: { name: 'north', version: 1 },
      region_counts: { all: { car: 2, truck: 1 } },
    });
  });
});
