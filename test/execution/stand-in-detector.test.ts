/** The change from the stand-in to the detector, with two real detectors. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadConfig } from '../../src/config.js';
import type { Detector } from '../../src/execution/detector.js';
import { openDetector } from '../../src/execution/open-detector.js';
import { StandInDetector } from '../../src/execution/stand-in-detector.js';
import { TEST_MODELS } from '../support/service-process.js';

const ignore = () => undefined;
const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

let scratch: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'lattice-stand-in-'));
});
afterAll(() => {
  rmSync(scratch, { recursive: true });
});

const open = (workerId: string, modelsDir = TEST_MODELS): Promise<Detector> =>
  openDetector(loadConfig({ dataDir: scratch, modelsDir, threads: 1 }, {}), logger, { workerId });

const detect = (detector: Detector) =>
  detector.detect({
    path: 'shapes.png',
    class: 'sync',
    options: {
      modelName: 'yolov8n.pt',
      confidence: 0.5,
      iou: 0.7,
      maxDetections: 300,
      classes: null,
    },
  });

it('serves with the stand-in until the detector is ready; work in hand is not lost', async () => {
  let becomeReady = ignore as () => void;
  const ready = new Promise<void>((resolve) => (becomeReady = resolve));
  const standIn = await open('cpu');
  const both = new StandInDetector({ detector: await open('gpu'), standIn, ready, logger });
  expect((await detect(both)).workerId).toBe('cpu');
  expect(both.stats().reason).toContain('being built');
  const inHand = Array.from({ length: 20 }, () => detect(both));
  becomeReady();
  await ready;
  await Promise.resolve();
  expect(both.workerId).toBe('gpu');
  expect((await Promise.all(inHand)).map(({ workerId }) => workerId)).toEqual(
    inHand.map(() => 'cpu'),
  );
  expect((await detect(both)).workerId).toBe('gpu');
  expect(both.stats().reason).not.toContain('being built');
  await expect
    .poll(() => detect(standIn).catch((error: unknown) => error))
    .toMatchObject({
      code: 'shutting_down',
    });
  await both.close();
});

it('stays with the stand-in when the detector cannot be used', async () => {
  const unfit = await open('gpu', join(scratch, 'none'));
  const failed = Object.assign(Object.create(unfit) as Detector, {
    unhealthy: () => new Error('no engine'),
    close: () => unfit.close(),
  });
  const standIn = await open('cpu');
  const both = new StandInDetector({
    detector: failed,
    standIn,
    ready: Promise.resolve(),
    logger,
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect((await detect(both)).workerId).toBe('cpu');
  await both.close();
  await expect(detect(both)).rejects.toMatchObject({ code: 'shutting_down' });
});
