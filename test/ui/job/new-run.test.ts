import { expect, test } from 'vitest';
import {
  DEFAULT_PARAMETERS,
  DEFAULT_VEHICLES,
  toWireParameters,
} from '../../../src/api/options.js';
import type { JobSubmit } from '../../../src/client/lattice-client.js';
import type { JobImage, JobSummary } from '../../../src/client/records.js';
import { newRunSettings, submitNewRun } from '../../../src/ui/job/new-run.js';

type Request = JobSummary['request'];

const requestOf = (changes: Partial<Request> = {}): Request => ({
  job_type: 'detect_vehicles',
  model_name: 'yolov8n.pt',
  ...toWireParameters({ ...DEFAULT_PARAMETERS, view: 'gate', minSize: 20 }),
  classes: [...DEFAULT_VEHICLES],
  priority: 3,
  annotate: false,
  places: false,
  has_callback: true,
  ...changes,
});

test('the options of the job stay but those of the question', () => {
  const settings = newRunSettings(requestOf(), { confidence_threshold: 0.01 });
  expect(settings).toMatchObject({
    job_type: 'detect_vehicles',
    model_name: 'yolov8n.pt',
    priority: 3,
    confidence_threshold: 0.01,
    min_size: 20,
    view: 'gate',
  });
  // The service chooses them itself: the model may not have all four.
  expect(settings).not.toHaveProperty('classes');
  expect(settings).not.toHaveProperty('has_callback');
});

test('drawn regions take the place of the view, and a view that of regions', () => {
  const polygon = [[0, 0], [1, 0], [1, 1]] as [number, number][]; // prettier-ignore
  const regions = [{ name: 'near', polygon }];
  expect(newRunSettings(requestOf(), { regions })).toMatchObject({ regions, view: null });
  const drawn = requestOf({ regions, view: null });
  expect(newRunSettings(drawn, { view: 'yard' })).toMatchObject({ regions: null, view: 'yard' });
});

test.each([
  { request: { classes: ['car'] }, asked: undefined, type: 'detect_vehicles', classes: ['car'] },
  { request: {}, asked: ['bus'], type: 'detect_vehicles', classes: ['bus'] },
  {
    request: { job_type: 'detect_cars', classes: ['car'] },
    asked: undefined,
    type: 'detect_cars',
    classes: undefined,
  },
  {
    request: { job_type: 'detect_cars', classes: ['car'] },
    asked: ['car', 'bus'],
    type: 'batch_detect',
    classes: ['car', 'bus'],
  },
  {
    request: { job_type: 'batch_detect', classes: undefined },
    asked: undefined,
    type: 'batch_detect',
    classes: undefined,
  },
] as const)(
  '$request with the classes $asked is a $type job of $classes',
  ({ request, asked, type, classes }) => {
    const settings = newRunSettings(
      requestOf(request as Partial<Request>),
      asked === undefined ? {} : { classes: asked },
    );
    expect([settings.job_type, settings.classes]).toEqual([type, classes]);
  },
);

test('all images are submitted, page by page, with the name and tags of the job', async () => {
  const paths = ['a.jpg', 'b.jpg', 'c.jpg'];
  const sent: (JobSubmit | string)[] = [];
  const service = {
    images: (_jobId: string, { offset = 0 } = {}) =>
      Promise.resolve({
        images: [{ index: offset, image_path: paths[offset], status: 'pending' } as JobImage],
        matching: 3,
        next_offset: offset < 2 ? offset + 1 : null,
      }),
    submit: (job: JobSubmit | string) => {
      sent.push(job);
      return Promise.resolve({ job_id: 'job_2', status: 'pending' as const, message: '' });
    },
  };
  const job = { job_id: 'job_1', name: 'Gate', tags: ['north'], upload: null };
  const question = { confidence_threshold: 0.01 };
  expect(await submitNewRun(service, job, requestOf(), question)).toBe('job_2');
  expect(sent).toMatchObject([{ image_paths: paths, name: 'Gate', tags: ['north'], ...question }]);
});
