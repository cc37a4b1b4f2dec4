/** The rate of the network alone: which pictures it is measured with, and when it is not measured. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { DEFAULT_PARAMETERS, type DetectOptions } from '../../../src/api/options.js';
import { networkAlone, type AloneParts } from '../../../src/cli/run/network-alone.js';
import type { DetectRequest } from '../../../src/execution/detector.js';
import type { ImageEntry, ImageOutcome, Job } from '../../../src/store/job.js';
import { errorOutcome, okOutcome } from '../../support/outcomes.js';

const OPTIONS = { ...DEFAULT_PARAMETERS, modelName: 'm.pt', classes: null };
const RAN = { ran: 200, seconds: 2 };

function partsOf(options: DetectOptions = OPTIONS) {
  const requests: DetectRequest[] = [];
  const detector = {
    models: () => Promise.resolve([{ name: 'm.pt', input: { width: 64, height: 64 } }]),
    stats: () => ({ suggestedWindow: 2 }),
    detect: async (request: DetectRequest) => {
      requests.push(request);
      await sleep(2);
    },
  };
  const images = {
    imagesAt: (_: Job, indexes: number[]) => Promise.resolve(indexes.map(entryOf)),
  };
  return { parts: { detector, images, options } as unknown as AloneParts, requests };
}

const large = { ...okOutcome(), image: { width: 640, height: 320 } } as ImageOutcome;
const entryOf = (index: number): ImageEntry => ({
  ...{ index, path: `/p/${index}.jpg` },
  outcome: index % 2 === 0 ? errorOutcome('invalid_image') : large,
});

const JOBS = [{ imageCount: 100 }, { imageCount: 100 }] as Job[];

test('pictures have the shapes of the run, no larger than the input of the network', async () => {
  const { parts, requests } = partsOf();
  const rate = await networkAlone(parts, JOBS, RAN);
  expect(rate).toBeGreaterThan(0);
  const [first] = requests;
  expect(first).toMatchObject({ kind: 'async' });
  expect([first?.image?.readInt32LE(18), first?.image?.readInt32LE(22)]).toEqual([64, 32]);
});

test('a short run and one with tiles are not measured', async () => {
  expect(await networkAlone(partsOf().parts, JOBS, { ran: 199, seconds: 2 })).toBeNull();
  const tiled = partsOf({ ...OPTIONS, tiles: 'auto' }).parts;
  expect(await networkAlone(tiled, JOBS, RAN)).toBeNull();
});
