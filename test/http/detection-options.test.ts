/** Each option of what a detection leaves out, at each door of the HTTP interface and of the CLI. */
import { Command } from 'commander';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { PARAMETER_ROWS } from '../../src/api/options.js';
import { addParameterFlags } from '../../src/cli/command-options.js';
import { OPTIONS, REGIONS } from '../support/asked-options.js';
import { compose, get, post, type Harness } from '../support/composed-app.js';

const asked = OPTIONS.map((each) => [JSON.stringify(each.json), each] as const);
const PICTURE = Buffer.from('pixels');
const optionsOf = (app: Harness) => app.detector.requests[0]?.options;

beforeAll(async () => {
  await post(compose(), '/v1/views/north', { regions: REGIONS }, {}, 'PUT');
});

it('the table has every option', () => {
  const names = new Set(OPTIONS.flatMap(({ json }) => Object.keys(json)));
  expect([...names].sort()).toEqual(PARAMETER_ROWS.map(({ wireName }) => wireName).sort());
});

describe.each(asked)(
  '%s reaches the detector',
  (_, { json, stored, texts, flags, kept, run = kept }) => {
    it('by a path', async () => {
      const app = compose();
      const body = { image_path: 'a.jpg', ...json };
      expect(await post(app, '/v1/inference/detect', body)).toMatchObject({ status: 200 });
      expect(optionsOf(app)).toMatchObject(run);
    });

    it('beside a picture, in the query', async () => {
      const app = compose();
      const query = new URLSearchParams(texts).toString();
      const headers = { 'content-type': 'image/jpeg' };
      const init = { method: 'POST', headers, body: PICTURE };
      expect((await app.app.request(`/v1/inference/detect?${query}`, init)).status).toBe(200);
      expect(optionsOf(app)).toMatchObject(run);
    });

    it('beside a picture, in a form', async () => {
      const app = compose();
      const body = new FormData();
      body.append('image', new Blob([PICTURE]), 'a.jpg');
      for (const [name, text] of texts) body.append(name, text);
      const init = { method: 'POST', body };
      expect((await app.app.request('/v1/inference/detect', init)).status).toBe(200);
      expect(optionsOf(app)).toMatchObject(run);
    });

    it('by a job, whose summary repeats it', async () => {
      const app = compose();
      const job = { job_type: 'detect_vehicles', image_paths: ['a.jpg'], ...json };
      const { status, body } = await post(app, '/v1/jobs/submit', job);
      expect(status).toBe(202);
      const id = body.job_id as string;
      expect(await app.jobs.specOf(id)).toMatchObject({ options: kept });
      const summary = await get(app, `/v1/jobs/${id}/summary`);
      expect(summary.body.request).toMatchObject(stored ?? json);
    });

    it('by flags', () => {
      const command = addParameterFlags(new Command(), { withDefaults: true });
      expect(command.parse(flags, { from: 'user' }).opts()).toMatchObject(kept);
    });
  },
);

it('regions may be in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lattice-regions-'));
  const command = () => addParameterFlags(new Command().exitOverride(), { withDefaults: true });
  const parse = (...flags: string[]) => {
    const quiet = command().configureOutput({ writeErr: () => undefined });
    return quiet.parse(flags, { from: 'user' }).opts();
  };
  const file = join(folder, 'regions.json');
  try {
    writeFileSync(file, JSON.stringify(REGIONS));
    expect(parse('--regions', file)).toMatchObject({ regions: REGIONS });
    writeFileSync(file, '{"name":"gate"}');
    expect(() => parse('--regions', file)).toThrow(/regions\.json is no JSON list of regions/);
    expect(() => parse('--regions', '[{]')).toThrow(/The text is no JSON list of regions/);
    expect(() => parse('--regions', join(folder, 'none'))).toThrow(/There is no file or folder/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const TRIANGLE = REGIONS[0]!.polygon;
const named = (more: object) => ({ regions: [{ name: 'a', polygon: TRIANGLE, ...more }] });
const BOW_TIE = [[0, 0], [1, 1], [1, 0], [0, 1]]; // prettier-ignore
const manyPoints = (count: number) =>
  Array.from({ length: count }, (_, at) => {
    const angle = (2 * Math.PI * at) / count;
    return [0.5 + 0.5 * Math.cos(angle), 0.5 + 0.5 * Math.sin(angle)];
  });

it('the most regions of the most points reach the detector, also in a form', async () => {
  const regions = Array.from({ length: 50 }, (_, at) => ({
    name: `${at}`.padEnd(64, 'x'),
    polygon: manyPoints(100).map((point) => point.map((part) => Number(part.toFixed(6)))),
  }));
  const app = compose();
  const body = new FormData();
  body.append('regions', JSON.stringify(regions));
  body.append('image', new Blob([PICTURE]), 'a.jpg');
  const init = { method: 'POST', body };
  expect((await app.app.request('/v1/inference/detect', init)).status).toBe(200);
  expect(optionsOf(app)).toMatchObject({ regions });
});

it('text that is no JSON list of regions is refused as what it is', async () => {
  const headers = { 'content-type': 'image/jpeg' };
  const init = { method: 'POST', headers, body: PICTURE };
  const query = new URLSearchParams({ regions: 'gate,north' }).toString();
  const answer = await compose().app.request(`/v1/inference/detect?${query}`, init);
  expect([answer.status, await answer.json()]).toMatchObject([
    422,
    { errors: [{ pointer: '#/regions', detail: 'regions: It must be a list.' }] },
  ]);
});

describe('without a confidence threshold', () => {
  const body = { image_path: 'a.jpg', model_name: 'yolov8n.pt' };
  const own = () => {
    const app = compose();
    app.detector.threshold = 0.35;
    return app;
  };

  it('a detection has that of its model, and the answer says it', async () => {
    for (const asked of [{}, { confidence_threshold: null }]) {
      const app = own();
      const answer = await post(app, '/v1/inference/detect', { ...body, ...asked });
      expect(answer.body).toMatchObject({ confidence_threshold: 0.35 });
      expect(optionsOf(app)).toMatchObject({ confidence: 0.35, iou: 0.7 });
    }
    const app = own();
    const asked = { ...body, confidence_threshold: 0.5 };
    const answer = await post(app, '/v1/inference/detect', asked);
    expect(answer.body).toMatchObject({ confidence_threshold: 0.5 });
    expect(optionsOf(app)).toMatchObject({ confidence: 0.5 });
  });

  it('a job has it from its submission on', async () => {
    const app = own();
    const job = { job_type: 'batch_detect', image_paths: ['a.jpg'] };
    const { body: accepted } = await post(app, '/v1/jobs/submit', job);
    app.detector.threshold = 0.6;
    const { body: summary } = await get(app, `/v1/jobs/${accepted.job_id as string}/summary`);
    expect(summary.request).toMatchObject({ confidence_threshold: 0.35 });
  });

  it('a model of which nobody can say has that of the interface', async () => {
    const app = own();
    app.detector.models = () => Promise.reject(new Error('no folder'));
    await post(app, '/v1/inference/detect', body);
    expect(optionsOf(app)).toMatchObject({ confidence: 0.5 });
  });
});

it.each([
  [{ regions: 'gate' }, '#/regions'],
  [{ regions: Array(51).fill(named({}).regions[0]) }, '#/regions'],
  [{ regions: [7] }, '#/regions/0'],
  [{ regions: [{ polygon: TRIANGLE }] }, '#/regions/0/name'],
  [named({ name: '' }), '#/regions/0/name'],
  [named({ name: 'x'.repeat(65) }), '#/regions/0/name'],
  [named({ name: '__proto__' }), '#/regions/0/name'],
  [{ regions: [...named({}).regions, ...named({}).regions] }, '#/regions/1/name'],
  [{ regions: [{ name: 'a' }] }, '#/regions/0/polygon'],
  [named({ polygon: TRIANGLE.slice(1) }), '#/regions/0/polygon'],
  [named({ polygon: manyPoints(101) }), '#/regions/0/polygon'],
  [named({ polygon: BOW_TIE }), '#/regions/0/polygon'],
  [
    named({
      polygon: [
        [0, 0],
        [0.5, 0.5],
        [1, 1],
      ],
    }),
    '#/regions/0/polygon',
  ],
  [
    named({
      polygon: [
        [0, 0],
        [0.5, 1.5],
        [1, 0],
      ],
    }),
    '#/regions/0/polygon/1/1',
  ],
  [
    named({
      polygon: [
        [0, 0],
        [-0.1, 0.5],
        [1, 0],
      ],
    }),
    '#/regions/0/polygon/1/0',
  ],
  [named({ polygon: [[0, 0], [0.5], [1, 0]] }), '#/regions/0/polygon/1'],
  [
    named({
      polygon: [
        [0, 0],
        [0.5, 0.5, 0.5],
        [1, 0],
      ],
    }),
    '#/regions/0/polygon/1',
  ],
  [named({ anchor: 'top' }), '#/regions/0/anchor'],
  [named({ anchor: 1.5 }), '#/regions/0/anchor'],
  [named({ ignore: 'yes' }), '#/regions/0/ignore'],
  [named({ classes: [] }), '#/regions/0/classes'],
  [named({ classes: ['car', 'tram'] }), '#/regions/0/classes/1'],
  [named({ colour: 'red' }), '#/regions/0/colour'],
  [{ view: 'no view' }, '#/view'],
  [{ view: 7 }, '#/view'],
  [{ view: 'north', ...named({}) }, '#/view'],
  [{ view: 'unknown' }, '#/view'],
  [{ class_thresholds: { tram: 0.5 } }, '#/class_thresholds/tram'],
  [{ class_thresholds: { car: 1.5 } }, '#/class_thresholds/car'],
  [{ class_thresholds: 'car:0.5' }, '#/class_thresholds'],
  [{ min_size: -1 }, '#/min_size'],
  [{ merge_classes: 'yes' }, '#/merge_classes'],
  [{ tiles: 'many' }, '#/tiles'],
  [{ tiles: { columns: 9, rows: 9 } }, '#/tiles'],
  [{ tiles: { columns: 0, rows: 1 } }, '#/tiles/columns'],
  [{ tiles: { size: 640, overlap: 0.9 } }, '#/tiles/overlap'],
])('%o is refused, by a path and by a job', async (wrong, pointer) => {
  const errors = [expect.objectContaining({ pointer })];
  const refused = { status: 422, body: { errors } };
  const app = compose();
  const image = { image_path: 'a.jpg', ...wrong };
  expect(await post(app, '/v1/inference/detect', image)).toMatchObject(refused);
  const job = { job_type: 'detect_vehicles', image_paths: ['a.jpg'], ...wrong };
  expect(await post(app, '/v1/jobs/submit', job)).toMatchObject(refused);
});

it('a body of very many wrong points is refused by their number', async () => {
  const image = { image_path: 'a.jpg', ...named({ polygon: Array(200_000).fill('x') }) };
  const { status, body } = await post(compose(), '/v1/inference/detect', image);
  expect([status, body.errors]).toEqual([
    422,
    [{ detail: 'polygon has more than 100 items.', pointer: '#/regions/0/polygon' }],
  ]);
});
