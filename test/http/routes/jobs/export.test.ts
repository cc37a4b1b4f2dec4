/** Results of jobs as files for other tools, over HTTP. */
import { beforeEach, expect, test } from 'vitest';
import { LatticeError } from '../../../../src/api/errors.js';
import { EXPORT_FORMATS, type ExportFormat } from '../../../../src/export/formats.js';
import { exportHeaders } from '../../../../src/http/routes/jobs/result.js';
import { compose, get, ROOT, type Harness, submitted } from '../../../support/composed-app.js';
import { endedJob } from '../../../support/ended-job.js';
import { HeldJobs } from '../../../support/held-jobs.js';
import { errorOutcome, okOutcome } from '../../../support/outcomes.js';

let app: Harness;
let jobId: string;

async function begin(jobs?: HeldJobs): Promise<void> {
  app = compose({}, {}, jobs);
  jobId = await submitted(app, { image_paths: [`${ROOT}/gate/a.jpg`, 'b.jpg', 'c.jpg'] });
}

beforeEach(() => begin());

const pathOf = (format: string, id = jobId) => `/v1/jobs/${id}/result?format=${format}`;
const ask = (format: string, id?: string) => get(app, pathOf(format, id));

async function finish(): Promise<void> {
  const damaged = errorOutcome('invalid_image', `${ROOT}/b.jpg is damaged.`);
  await app.jobs.finish(jobId, [okOutcome(['bus', 'Car']), damaged, okOutcome([])]);
}

const TYPES: Record<ExportFormat, [contentType: string, ending: string]> = {
  coco: ['application/json', '.coco.json'],
  'coco-results': ['application/json', '.coco-results.json'],
  csv: ['text/csv; charset=utf-8', '.csv'],
  yolo: ['application/zip', '.yolo.zip'],
  labelstudio: ['application/json', '.labelstudio.json'],
  ndjson: ['application/x-ndjson', '.ndjson'],
  geojson: ['application/geo+json', '.geojson'],
  parquet: ['application/vnd.apache.parquet', '.parquet'],
};

test.each(EXPORT_FORMATS)('%s comes as a file with its name', async (format) => {
  await finish();
  const [contentType, ending] = TYPES[format];
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await app.app.request(pathOf(format), { method });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe(contentType);
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${jobId}${ending}"`);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('access-control-expose-headers')).toContain('content-disposition');
  }
});

test('json is the record, as without a format', async () => {
  await finish();
  const record = await get(app, `/v1/jobs/${jobId}/result`);
  const { body, headers } = await ask('json');
  expect(body).toEqual(record.body);
  expect(headers.has('content-disposition')).toBe(false);
});

test('a line of NDJSON is an entry of images[]', async () => {
  await finish();
  const record = await get(app, `/v1/jobs/${jobId}/result`);
  const answer = await app.app.request(pathOf('ndjson'));
  const lines = (await answer.text()).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
    (record.body as { result: { images: unknown[] } }).result.images,
  );
});

test('categories are the classes of the model in its order, files are relative to the image root', async () => {
  await finish();
  const { body } = await ask('coco');
  const { classes } = (await app.detector.models())[0]!;
  expect(body).toMatchObject({
    images: [
      { id: 1, file_name: 'gate/a.jpg' },
      { id: 2, file_name: 'c.jpg' },
    ],
    categories: classes.map((name, index) => ({ id: index + 1, name })),
    annotations: ['bus', 'Car'].map((name, index) => ({
      id: index + 1,
      image_id: 1,
      category_id: classes.indexOf(name) + 1,
    })),
    info: { job_id: jobId, failed_images: 1 },
  });
});

test('a cancelled job gives what it has', async () => {
  await app.jobs.progress(jobId, 1);
  await app.jobs.service.cancel(jobId, null);
  const { body } = await ask('coco');
  expect(body).toMatchObject({ images: [{ id: 1 }], info: { failed_images: 2 } });
});

test('the images that have no boxes in an export are counted in a header', () => {
  const job = { ...endedJob(10, { finishedImages: 8 }), failedImages: 3 };
  expect(exportHeaders(job, 'csv')).toMatchObject({ 'x-lattice-failed-images': '5' });
});

test('refusals are those of the record, and a format that does not exist is one', async () => {
  expect(await ask('csv')).toMatchObject({ status: 409, body: { code: 'job_not_finished' } });
  expect(await ask('csv', 'job_none')).toMatchObject({
    status: 404,
    body: { code: 'job_not_found' },
  });
  for (const format of ['voc', '', 'CSV', 'csv&format=coco']) {
    const { status, body } = await ask(format);
    expect({ status, body }).toMatchObject({
      status: 422,
      body: {
        code: 'validation_failed',
        detail: expect.stringMatching(/^format: '.*' is none of json, coco, .*parquet\.$/),
      },
    });
  }
});

test('a store that fails at first is answered as such, one that fails later breaks the file off', async () => {
  await using jobs = await HeldJobs.open();
  await begin(jobs);
  await finish();
  jobs.imagesPerPage = 1;
  jobs.brokenPage = 1;
  expect(await ask('yolo')).toMatchObject({ status: 503, body: { code: 'storage_unavailable' } });
  // The second time that coco reads the pages.
  jobs.brokenPage = jobs.pagesRead + 5;
  await expect(ask('coco')).rejects.toThrow('Disk.');
  expect(app.logged).toMatchObject([{ message: 'result broken off', fields: { job_id: jobId } }]);
  expect(jobs.readers).toBe(0);
});

test('without the list of models there is no export: its numbers would be others', async () => {
  await finish();
  app.detector.models = () =>
    Promise.reject(new LatticeError('cluster_unavailable', 'No worker answers.'));
  expect(await ask('coco')).toMatchObject({ status: 503, body: { code: 'cluster_unavailable' } });
});
