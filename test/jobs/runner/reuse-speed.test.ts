import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileLooks } from '../../../src/files/file-looks.js';
import { END, FileDetector } from '../../support/file-detector.js';
import { ended, openTestJobs, specOf, TemporaryFolder } from '../job-folder.js';

const FILES = 10_000;

/** It takes 3 s on two free cores; `ended` gives up after minutes, as a search per image would take. */
test('10,000 unchanged files are found again before the wait gives up', async () => {
  using folder = new TemporaryFolder();
  using data = new TemporaryFolder();
  const root = join(folder.path, 'images');
  mkdirSync(root);
  const imagePaths = Array.from({ length: FILES }, (_, index) => `${index}.jpg`);
  for (const name of imagePaths) writeFileSync(join(root, name), `${name} ${END}`);
  const detector = new FileDetector(root);
  detector.clockAheadS = 60;
  detector.window = 64;
  const reuse = { environment: '', look: fileLooks([root]) };
  await using jobs = await openTestJobs(data, { reuse, imageRoots: [root] }, detector);
  const run = async () => {
    detector.requests.length = 0;
    const since = performance.now();
    const { job } = await jobs.service.submit(specOf({ imagePaths, reuse: 'unchanged' }));
    const { reusedImages } = await ended(jobs.service, job.jobId);
    const seconds = (performance.now() - since) / 1_000;
    return { ran: detector.requests.length, reusedImages, seconds };
  };
  expect(await run()).toMatchObject({ ran: FILES, reusedImages: 0 });
  const { seconds, ...second } = await run();
  console.log(`${FILES} unchanged files: ${seconds.toFixed(1)} s`);
  expect(second).toEqual({ ran: 0, reusedImages: FILES });
});
