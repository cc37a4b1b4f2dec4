/** Real worker processes whose nodes lack what the service has: an unmounted image folder, another model file. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageVersion } from '../../../src/base/package.js';
import { toLatticeError } from '../../../src/api/errors.js';
import { DEFAULT_PARAMETERS } from '../../../src/api/options.js';
import type { DetectRequest } from '../../../src/execution/detector.js';
import { openFileAccess } from '../../../src/execution/here/file-access.js';
import { modelFaults } from '../../../src/execution/worker-models.js';
import { loadConfig } from '../../../src/settings/config.js';
import { OWN_CLASSES, writeOwnModel } from '../../support/own-model.js';
import { PICTURE } from '../../support/service-client.js';
import { startWorkerProcess, type WorkerProcess } from '../../support/worker-process.js';
import { openWorkerRig, type WorkerRig } from '../../support/worker-rig.js';
import { until } from '../../support/eventually.js';

let scratch: string;
let rig: WorkerRig;
let started: WorkerProcess[] = [];

/** A folder with one image, or the empty folder that a volume leaves behind. */
function imageFolder(name: string, ...images: string[]): string {
  const folder = join(scratch, name);
  mkdirSync(folder, { recursive: true });
  for (const image of images) copyFileSync(PICTURE, join(folder, image));
  return folder;
}

function modelFolder(name: string, classes = OWN_CLASSES): string {
  const folder = join(scratch, name);
  writeOwnModel(folder, classes);
  return folder;
}

beforeEach(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'lattice-unlike-'));
  const imageRoots = [imageFolder('service-images', 'a.png')];
  const modelsDir = modelFolder('service-models');
  const files = await openFileAccess({ ...loadConfig({}, {}), imageRoots, modelsDir });
  rig = await openWorkerRig({ build: packageVersion(), beatMs: 100 }, files);
});

afterEach(async () => {
  for (const worker of started) worker.kill('SIGKILL');
  await Promise.all(started.map(({ exited }) => exited));
  started = [];
  await rig.close();
  rmSync(scratch, { recursive: true });
});

/** A worker on a node of this name; resolves once it has joined. */
async function joined(node: string, images: string, models: string): Promise<void> {
  const before = rig.detector.workers().length;
  started.push(
    startWorkerProcess({
      LATTICE_SERVICE_URL: rig.server.url.replace('http', 'ws'),
      LATTICE_WORKER_ID: `worker-${node}`,
      LATTICE_NODE_ID: node,
      LATTICE_IMAGE_ROOTS: images,
      LATTICE_MODELS_DIR: models,
    }),
  );
  await until(() => rig.detector.workers().length > before, `${node} has joined`);
}

const image = (path: string, modelName = 'yolov8n.pt'): DetectRequest => ({
  path,
  kind: 'async',
  options: { ...DEFAULT_PARAMETERS, modelName, classes: null },
});

/** Which worker answered how many of 60 images; an error counts by its code. */
async function outcomes(path: string, modelName?: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const one = () =>
    rig.detector.detect(image(path, modelName)).then(
      ({ workerId }) => workerId,
      (thrown: unknown) => toLatticeError(thrown).code,
    );
  for (const each of await Promise.all(Array.from({ length: 60 }, one)))
    counts[each] = (counts[each] ?? 0) + 1;
  return counts;
}

const faultOf = (node: string) =>
  rig.detector
    .workers()
    .find(({ worker }) => worker.nodeId === node)
    ?.worker.unhealthy();

describe('a node whose image folder is not mounted', () => {
  it('gets no images while the others have the folder, says why, and is back with its folder', async () => {
    const models = join(scratch, 'service-models');
    await joined('empty', imageFolder('empty'), models);
    await joined('full', imageFolder('full', 'a.png'), models);
    expect(await outcomes('a.png')).toEqual({ 'worker-full': 60 });
    expect(faultOf('full')).toBeNull();
    expect(faultOf('empty')).toMatchObject({
      code: 'volume_unavailable',
      message: 'Node empty lacks an image that the service has: is its volume mounted?',
    });
    expect(rig.logged).toContainEqual({
      message: 'a worker lacks an image that the service has: is its volume mounted?',
      fields: { workerId: 'worker-empty', nodeId: 'empty', path: 'a.png' },
    });
    expect(await outcomes('absent.png')).toEqual({ image_not_found: 60 });
    imageFolder('empty', 'a.png');
    await until(() => faultOf('empty') === null, 'the folder is seen again');
    expect(Object.keys(await outcomes('a.png')).sort()).toEqual(['worker-empty', 'worker-full']);
  });

  it('is found out when it joins, by an image that another worker has read', async () => {
    const models = join(scratch, 'service-models');
    await joined('full', imageFolder('full', 'a.png'), models);
    await rig.detector.detect(image('a.png'));
    await joined('empty', imageFolder('empty'), models);
    await until(() => faultOf('empty') !== null, 'unhealthy');
  });

  it('alone: the image may be tried again, and the service is not ready', async () => {
    await joined('empty', imageFolder('empty'), join(scratch, 'service-models'));
    expect(await outcomes('a.png')).toEqual({ volume_unavailable: 60 });
    expect(rig.detector.unhealthy()).toMatchObject({ code: 'volume_unavailable' });
  });
});

describe('a node with other model files', () => {
  it.each([
    ['lacks one', undefined, 'own.pt is missing.'],
    ['has another one', [...OWN_CLASSES].reverse(), /^own.pt is another file \([0-9a-f]{16}\)/],
  ])('%s: images of this model go to the others', async (_what, classes, fault) => {
    const other = modelFolder('other-models', classes);
    if (classes === undefined) rmSync(join(other, 'own.onnx'));
    const images = join(scratch, 'service-images');
    await joined('other', images, other);
    await joined('same', images, join(scratch, 'service-models'));
    expect(await outcomes('a.png', 'own.pt')).toEqual({ 'worker-same': 60 });
    const [first] = rig.detector.workers();
    const faults = () => modelFaults(first?.worker.modelDigests, rig.detector.modelDigests());
    expect(faults()).toEqual([expect.stringMatching(fault)]);
    expect(rig.logged).toContainEqual({
      message: 'the models of a worker are not those of the service',
      fields: { workerId: 'worker-other', nodeId: 'other', faults: faults() },
    });
    expect(Object.keys(await outcomes('a.png')).sort()).toEqual(['worker-other', 'worker-same']);
    modelFolder('other-models');
    await until(() => faults().length === 0, 'the same models');
  });
});
