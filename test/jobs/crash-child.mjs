// The compiled job part with a detector of 2 ms that fails every second image of a job, under eight submitters. Prints
// every acknowledged id until it is killed.
import { writeSync } from 'node:fs';
import { LatticeError } from '../../dist/api/errors.js';
import { createJobs } from '../../dist/jobs/jobs.js';
import { openStore } from '../../dist/store/service-store.js';
import { openUploads } from '../../dist/uploads/open-uploads.js';
import { Views } from '../../dist/views/views.js';

const [dataDir] = process.argv.slice(2);
const detector = {
  workerId: 'child',
  prepare: () => Promise.reject(new LatticeError('unknown_model', 'It has no models.')),
  keepModels: () => undefined,
  detect: async ({ options, path }) => {
    await new Promise((resolve) => setTimeout(resolve, 2));
    if (path.endsWith('-1.jpg')) throw new LatticeError('invalid_image', 'Broken.');
    return {
      detections: [{ box: [1, 2, 3, path.length], confidence: 0.9, class: 'car' }],
      image: { width: 1, height: 1 },
      timingsMs: { queue: 0, decode: 0, preprocess: 0, inference: 0, postprocess: 0 },
      processingTimeMs: 0,
      model: options.modelName,
      workerId: 'child',
      truncated: false,
    };
  },
  stats: () => ({ suggestedWindow: 8, imagesPerSecond: 0 }),
};
const say = (line) => writeSync(1, `${line}\n`);
const quiet = () => undefined;
const logger = { info: quiet, warn: quiet, error: quiet };
const store = await openStore(dataDir);
const jobs = await createJobs(store, {
  views: await Views.open(store, []),
  uploads: await openUploads({
    config: { dataDir, imageRoots: [], uploadsMaxMb: 0 },
    store,
    logger,
  }),
  dataDir,
  detector,
  maxQueuedJobs: 1_000_000,
  resultTtlHours: 24,
  reserveBytes: 0,
  logger,
});
jobs.start();
say('open');

async function submitForEver(client) {
  for (let round = 0; ; round += 1) {
    const { job } = await jobs.service.submit({
      jobType: 'batch_detect',
      imagePaths: Array.from({ length: 1 + (round % 3) }, (_, image) => `${client}-${image}.jpg`),
      options: { modelName: 'm.pt', confidence: 0.5, iou: 0.7, maxDetections: 300, classes: null },
      priority: client,
      callbackUrl: client % 2 === 0 ? 'http://127.0.0.1/hook' : null,
      metadata: null,
      annotate: false,
      keyId: null,
      labels: { name: null, tags: [], notes: null, keep: false },
      typed: { paths: [`${client}-0.jpg`], count: 1 },
    });
    say(job.jobId);
    if (round % 10 === 9) await jobs.service.cancel(job.jobId, null).catch(quiet);
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
}
await Promise.all(Array.from({ length: 8 }, (_, client) => submitForEver(client)));
