/** The model version that the images of a job name: the one that the job began with, as long as a worker has it. */
import { expect, test } from 'vitest';
import type { ImageResult } from '../../../src/api/schemas/image.js';
import type { ModelDescription, ModelVersion } from '../../../src/api/schemas/model.js';
import type { DetectRequest } from '../../../src/execution/detector.js';
import { FakeDetector } from '../../support/fake-detector.js';
import { ended, imagesNamed, openTestJobs, specOf, TemporaryFolder } from '../job-folder.js';
import { until } from '../../support/eventually.js';

const IMAGES = 40;

class VersionedDetector extends FakeDetector {
  digest = 'a';
  prepared = 0;
  kept: readonly string[] = [];

  override prepare(name: string): Promise<ModelDescription> {
    this.prepared += 1;
    const { digest } = this;
    return Promise.resolve({
      name,
      digest,
      quantizedFrom: null,
      precision: 'f32',
    } as ModelDescription);
  }

  override keepModels = (versions: readonly ModelVersion[]) => {
    this.kept = versions.map(({ digest }) => digest);
  };

  override async detect(request: DetectRequest): Promise<ImageResult> {
    const result = await super.detect(request);
    return { ...result, precision: 'f32', modelDigest: request.model?.digest ?? this.digest };
  }

  /** Digests that requests named, each once in order. */
  get named(): (string | undefined)[] {
    return [...new Set(this.requests.map(({ model }) => model?.digest))];
  }
}

async function run(detector: VersionedDetector) {
  using folder = new TemporaryFolder();
  await using jobs = await openTestJobs(folder, {}, detector);
  const { job } = await jobs.service.submit(specOf({ imagePaths: imagesNamed('p', IMAGES) }));
  return await ended(jobs.service, job.jobId);
}

test('is that of its begin, and kept until its end', async () => {
  const detector = new VersionedDetector();
  detector.answer = () => {
    expect(detector.kept).toEqual(['a']);
    detector.digest = 'b';
    return 'ok';
  };
  expect(await run(detector)).toMatchObject({ status: 'completed' });
  expect(detector.named).toEqual(['a']);
  expect(detector.prepared).toBe(1);
  expect(detector.kept).toEqual([]);
});

test('is the present one where no worker has that of its begin any more', async () => {
  const detector = new VersionedDetector();
  detector.answer = ({ model }) => {
    if (detector.requests.length > IMAGES / 2) detector.digest = 'b';
    return model?.digest === detector.digest ? 'ok' : 'model_changed';
  };
  expect(await run(detector)).toMatchObject({ status: 'completed', failedImages: 0 });
  expect(detector.named).toEqual(['a', 'b']);
  expect(detector.prepared).toBe(2);
});

test('is left open where workers name one that none of them can run', async () => {
  const detector = new VersionedDetector();
  detector.answer = ({ model }) => (model === undefined ? 'ok' : 'model_changed');
  expect(await run(detector)).toMatchObject({ status: 'completed', failedImages: 0 });
  expect(detector.named).toEqual(['a', undefined]);
});

test('is that of its begin after a restart too', async () => {
  using folder = new TemporaryFolder();
  const first = new VersionedDetector();
  first.answer = () => (first.requests.length > IMAGES / 2 ? 'hang' : 'ok');
  const before = await openTestJobs(folder, {}, first);
  const spec = specOf({ imagePaths: imagesNamed('p', IMAGES) });
  const { jobId } = (await before.service.submit(spec)).job;
  await until(
    async () => (await before.service.get(jobId, null)).finishedImages > 0,
    'some images',
  );
  await before.stop(0);

  const second = new VersionedDetector();
  second.digest = 'b';
  await using after = await openTestJobs(folder, {}, second);
  expect(await ended(after.service, jobId)).toMatchObject({ status: 'completed' });
  const named = second.requests.map(({ model }) => model);
  const began = { name: 'yolov8n.pt', digest: 'a', source: 'a', precision: 'f32' };
  expect(named).toEqual(named.map(() => began));
  expect(named.length).toBeGreaterThan(0);
});
