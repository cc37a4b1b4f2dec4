/** Either cluster behaves as a detector: the worker in this process, and a worker at the other end of a socket. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, describe } from 'vitest';
import { openLocalCluster } from '../../src/clusters/local-cluster.js';
import { PACKAGE_ROOT } from '../../src/base/package.js';
import { loadConfig } from '../../src/settings/config.js';
import { openFileAccess } from '../../src/execution/here/file-access.js';
import { openDetector } from '../../src/execution/here/open-detector.js';
import { detectorConformance } from '../support/detector-conformance.js';
import { TEST_MODELS } from '../support/service-process.js';
import { silent } from '../support/silent-logger.js';
import { openWorkerRig, startWorker } from '../support/worker-rig.js';

const scratch = mkdtempSync(join(tmpdir(), 'lattice-clusters-'));
const model = 'yolov8n.pt';
afterAll(() => {
  rmSync(scratch, { recursive: true });
});

const config = (roots: string[]) =>
  loadConfig({ dataDir: scratch, modelsDir: TEST_MODELS, imageRoots: roots.join(':') }, {});

async function makePictures() {
  const root = join(scratch, 'pictures');
  mkdirSync(root, { recursive: true });
  const flopped = sharp(join(PACKAGE_ROOT, 'models/demo/shapes.png')).flop();
  await flopped.toFile(join(root, 'flopped.png'));
  return { root, pictures: ['flopped.png'] };
}

describe('local cluster', () => {
  detectorConformance(
    async (roots) => ({
      detector: (await openLocalCluster(config(roots), '1.2.3', silent, {})).detector,
      model,
    }),
    makePictures,
  );
});

describe('worker at the other end of a socket', () => {
  detectorConformance(async (roots) => {
    const files = await openFileAccess(config(roots));
    const worker = await openDetector(config(roots), silent, { workerId: 'worker-0' });
    const rig = await openWorkerRig(
      {},
      {
        ...files,
        close: async () => {
          await link.stop(0);
          await worker.close();
          await files.close();
        },
      },
    );
    const link = await startWorker(rig, worker);
    return { detector: rig.detector, model };
  }, makePictures);
});
