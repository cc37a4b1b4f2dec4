/** Each option of what a detection leaves out, at each door of the HTTP interface and of the CLI. */
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import type { DetectionParameters } from '../../src/api/options.js';
import { addParameterFlags } from '../../src/cli/command-options.js';
import { compose, get, post, type Harness } from '../support/composed-app.js';

interface Asked {
  /** As HTTP names them. */
  json: Record<string, unknown>;
  /** In a query or a form. */
  texts: [string, string][];
  flags: string[];
  reached: Partial<DetectionParameters>;
}

const OPTIONS: Asked[] = [
  {
    json: { merge_classes: true },
    texts: [['merge_classes', 'true']],
    flags: ['--merge-classes'],
    reached: { mergeClasses: true },
  },
  {
    json: { merge_classes: false },
    texts: [['merge_classes', '0']],
    flags: ['--no-merge-classes'],
    reached: { mergeClasses: false },
  },
  {
    json: { class_thresholds: { truck: 0.6, CAR: 0.25 } },
    texts: [['class_thresholds', 'truck:0.6, CAR:.25']],
    flags: ['--class-thresholds', 'truck:0.6,CAR:0.25'],
    reached: { classThresholds: { truck: 0.6, CAR: 0.25 } },
  },
  {
    json: { min_size: 0.05, max_size: 400 },
    texts: [
      ['min_size', '0.05'],
      ['max_size', '400'],
    ],
    flags: ['--min-size', '0.05', '--max-size', '400'],
    reached: { minSize: 0.05, maxSize: 400 },
  },
];

const asked = OPTIONS.map((each) => [JSON.stringify(each.json), each] as const);
const PICTURE = Buffer.from('pixels');
const optionsOf = (app: Harness) => app.detector.requests[0]?.options;

describe.each(asked)('%s reaches the detector', (_, { json, texts, flags, reached }) => {
  it('by a path', async () => {
    const app = compose();
    const body = { image_path: 'a.jpg', ...json };
    expect(await post(app, '/v1/inference/detect', body)).toMatchObject({ status: 200 });
    expect(optionsOf(app)).toMatchObject(reached);
  });

  it('beside a picture, in the query', async () => {
    const app = compose();
    const query = new URLSearchParams(texts).toString();
    const headers = { 'content-type': 'image/jpeg' };
    const init = { method: 'POST', headers, body: PICTURE };
    expect((await app.app.request(`/v1/inference/detect?${query}`, init)).status).toBe(200);
    expect(optionsOf(app)).toMatchObject(reached);
  });

  it('beside a picture, in a form', async () => {
    const app = compose();
    const body = new FormData();
    body.append('image', new Blob([PICTURE]), 'a.jpg');
    for (const [name, text] of texts) body.append(name, text);
    const init = { method: 'POST', body };
    expect((await app.app.request('/v1/inference/detect', init)).status).toBe(200);
    expect(optionsOf(app)).toMatchObject(reached);
  });

  it('by a job, whose summary repeats it', async () => {
    const app = compose();
    const job = { job_type: 'detect_vehicles', image_paths: ['a.jpg'], ...json };
    const { status, body } = await post(app, '/v1/jobs/submit', job);
    expect(status).toBe(202);
    const id = body.job_id as string;
    expect(await app.jobs.specOf(id)).toMatchObject({ options: reached });
    const summary = await get(app, `/v1/jobs/${id}/summary`);
    expect(summary.body.request).toMatchObject(json);
  });

  it('by flags', () => {
    const command = addParameterFlags(new Command(), { withDefaults: true });
    expect(command.parse(flags, { from: 'user' }).opts()).toMatchObject(reached);
  });
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
  [{ class_thresholds: { tram: 0.5 } }, '#/class_thresholds/tram'],
  [{ class_thresholds: { car: 1.5 } }, '#/class_thresholds/car'],
  [{ class_thresholds: 'car:0.5' }, '#/class_thresholds'],
  [{ min_size: -1 }, '#/min_size'],
  [{ merge_classes: 'yes' }, '#/merge_classes'],
])('%o is refused, by a path and by a job', async (wrong, pointer) => {
  const errors = [expect.objectContaining({ pointer })];
  const refused = { status: 422, body: { errors } };
  const app = compose();
  const image = { image_path: 'a.jpg', ...wrong };
  expect(await post(app, '/v1/inference/detect', image)).toMatchObject(refused);
  const job = { job_type: 'detect_vehicles', image_paths: ['a.jpg'], ...wrong };
  expect(await post(app, '/v1/jobs/submit', job)).toMatchObject(refused);
});
