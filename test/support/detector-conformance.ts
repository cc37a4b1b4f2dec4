/** The promises of every `Detector`, whatever runs the network: a suite for each implementation's test file. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PACKAGE_ROOT } from '../../src/base/package.js';
import { describedBoxes } from '../../src/boxes/box-descriptors.js';
import { unpackFound } from '../../src/boxes/found-boxes.js';
import { intersectionOverUnion } from '../../src/boxes/overlap.js';
import { DEFAULT_PARAMETERS, type DetectOptions } from '../../src/api/options.js';
import type { Detection } from '../../src/api/schemas/image.js';
import { LEAST_SPREAD, levelsOf, LOOK_CELLS } from '../../src/cameras/picture-look.js';
import type { DetectRequest, Detector } from '../../src/execution/detector.js';

const DEMO = join(PACKAGE_ROOT, 'models/demo');
const PICTURE = 'shapes.png';
const KNOWN = (
  JSON.parse(readFileSync(join(DEMO, 'shapes.json'), 'utf8')) as {
    boxes: { class: string; box: [number, number, number, number] }[];
  }
).boxes;

export interface DetectorUnderTest {
  detector: Detector;
  /** Name of the bundled test-pattern model with this detector. */
  model: string;
}

/** `open` gives a fresh detector with `roots` as image roots. `pictures` are further files beneath `roots`. */
export function detectorConformance(
  open: (roots: string[]) => Promise<DetectorUnderTest>,
  makePictures: () => Promise<{ root: string; pictures: string[] }>,
): void {
  let subject: DetectorUnderTest;
  let pictures: string[];
  let roots: string[];

  const request = (
    options: Partial<DetectOptions> = {},
    more: Partial<Omit<DetectRequest, 'options'>> = {},
  ): DetectRequest => ({
    path: PICTURE,
    kind: 'sync',
    options: { ...DEFAULT_PARAMETERS, modelName: subject.model, classes: null, ...options },
    ...more,
  });
  const detect = (...parts: Parameters<typeof request>) =>
    subject.detector.detect(request(...parts));

  beforeAll(async () => {
    const made = await makePictures();
    pictures = [PICTURE, ...made.pictures];
    roots = [DEMO, made.root];
    subject = await open(roots);
  });
  afterAll(() => subject.detector.close());

  describe('results', () => {
    it('hold exactly the boxes of the picture, surest first', async () => {
      const result = await detect();
      expect(result).toMatchObject({
        image: { width: 640, height: 480 },
        model: subject.model,
        workerId: subject.detector.workerId,
        truncated: false,
      });
      expect(result.detections).toHaveLength(KNOWN.length);
      for (const known of KNOWN) {
        const overlaps = result.detections
          .filter((found) => found.class === known.class)
          .map((found) => intersectionOverUnion(found.box, known.box));
        expect(Math.max(...overlaps)).toBeGreaterThanOrEqual(0.9);
      }
      const scores = result.detections.map(({ confidence }) => confidence);
      expect(scores).toEqual([...scores].sort((a, b) => b - a));
    });

    it('tell where the time went', async () => {
      const { timingsMs, processingTimeMs } = await detect();
      for (const value of Object.values(timingsMs)) expect(value).toBeGreaterThanOrEqual(0);
      expect(timingsMs.inference).toBeGreaterThan(0);
      expect(processingTimeMs).toBeGreaterThanOrEqual(timingsMs.inference);
    });

    it('say which file of which state was read, and by which model', async () => {
      const entry = statSync(join(DEMO, PICTURE), { bigint: true });
      const { file, modelDigest, precision } = await detect();
      expect(file).toEqual({
        size: Number(entry.size),
        modifiedNs: String(entry.mtimeNs),
        changedNs: String(entry.ctimeNs),
        device: String(entry.dev),
        inode: String(entry.ino),
        readAt: expect.closeTo(Date.now() / 1_000, -1),
      });
      const model = await subject.detector.prepare(subject.model);
      expect({ digest: modelDigest, precision }).toEqual({
        digest: model.digest,
        precision: model.precision,
      });
      expect(modelDigest).toMatch(/^[0-9a-f]{16}$/);
      const image = readFileSync(join(DEMO, PICTURE));
      expect(await detect({}, { image })).not.toHaveProperty('file');
    });

    it('have the look of the picture where the request asks for it', async () => {
      expect(await detect()).not.toHaveProperty('look');
      const { look } = await detect({}, { look: true });
      expect(look?.grey).toHaveLength(LOOK_CELLS);
      expect(levelsOf(look!.grey).spread).toBeGreaterThan(LEAST_SPREAD);
      expect(look?.sharpness).toBeGreaterThan(0);
    });

    it('have descriptors of the boxes that they found where the request asks for it', async () => {
      expect(await detect()).not.toHaveProperty('descriptors');
      const more = { scoreFloor: 0.05, descriptorsAbove: 0.25 };
      const { found, descriptors } = await detect({ confidence: 0.9 }, more);
      const boxes = unpackFound(found!, 0.25).detections;
      expect(descriptors).toHaveLength(64 * boxes.length);
      const described = describedBoxes(boxes, boxes, descriptors!);
      expect(new Set(described.map(({ descriptor }) => descriptor)).size).toBe(boxes.length);
    });

    it('have all boxes above a score floor where the request has one, whatever it asks for', async () => {
      const options = { confidence: 0.9, classes: ['car'] };
      expect(await detect(options)).not.toHaveProperty('found');
      const { detections, found } = await detect(options, { scoreFloor: 0.05 });
      const all = unpackFound(found!);
      expect(all).toMatchObject({ floor: 0.05, isCut: false, image: { width: 640, height: 480 } });
      expect(all.detections).toEqual((await detect({ confidence: 0.05 })).detections);
      expect(detections).toEqual(
        all.detections.filter((box) => box.confidence > 0.9 && box.class === 'car'),
      );
    });

    it('keep scores strictly above the threshold', async () => {
      const { detections } = await detect();
      const weakest = detections.at(-1)!;
      const at = await detect({ confidence: weakest.confidence });
      expect(at.detections).toEqual(detections.slice(0, -1));
      expect((await detect({ confidence: 1 })).detections).toEqual([]);
      expect((await detect({ confidence: 0 })).detections.length).toBeGreaterThan(KNOWN.length);
    });

    it('hold at most so many boxes as asked for, the surest, and say so', async () => {
      const all = await detect();
      const some = await detect({ maxDetections: 2 });
      expect(some.detections).toEqual(all.detections.slice(0, 2));
      expect(some.truncated).toBe(true);
    });

    it('hold the classes asked for only, in any letter case', async () => {
      const all = await detect();
      const some = await detect({ classes: ['CAR', 'Bus'] });
      expect(some.detections).toEqual(
        all.detections.filter((found) => ['car', 'bus'].includes(found.class)),
      );
    });
  });

  describe('refusals', () => {
    it('name the classes when one is unknown', async () => {
      await expect(detect({ classes: ['zebra'] })).rejects.toMatchObject({
        code: 'validation_failed',
        message: expect.stringContaining('car, motorcycle, bus, truck'),
      });
    });

    it.each([
      ['missing.png', 'image_not_found'],
      ['../manifest.json', 'path_not_allowed'],
      ['/etc/passwd', 'path_not_allowed'],
      ['shapes.json', 'unsupported_image_format'],
      ['.', 'not_a_regular_file'],
    ])('give a code for %s', async (path, code) => {
      const failed = detect({}, { path });
      await expect(failed).rejects.toMatchObject({ name: 'LatticeError', code });
      await expect(failed).rejects.not.toThrow(DEMO);
    });

    it('name what models there are', async () => {
      await expect(detect({ modelName: 'nothing.pt' })).rejects.toMatchObject({
        code: 'unknown_model',
        message: expect.stringContaining(subject.model),
      });
      await expect(subject.detector.prepare('nothing.pt')).rejects.toMatchObject({
        code: 'unknown_model',
      });
    });
  });

  describe('cancel and deadline', () => {
    it('reject at once for a signal that is aborted already', async () => {
      await expect(detect({}, { signal: AbortSignal.abort() })).rejects.toMatchObject({
        code: 'cancelled',
      });
    });

    it('take waiting work out, and only that', async () => {
      const controller = new AbortController();
      const before = Array.from({ length: 8 }, () => detect({}, { kind: 'async' }));
      const doomed = Array.from({ length: 60 }, () =>
        detect({}, { kind: 'async', signal: controller.signal }),
      );
      const after = Array.from({ length: 8 }, () => detect({}, { kind: 'async' }));
      controller.abort();
      const outcomes = await Promise.allSettled(doomed);
      const codes = outcomes.map((one) =>
        one.status === 'rejected' ? String(one.reason.code) : 'done',
      );
      expect(codes.filter((code) => code === 'cancelled').length).toBeGreaterThan(0);
      expect(codes.every((code) => code === 'cancelled' || code === 'done')).toBe(true);
      for (const kept of await Promise.all([...before, ...after])) {
        expect(kept.detections).toHaveLength(KNOWN.length);
      }
    });

    it('answer with deadline_exceeded once the time is over', async () => {
      const crowd = Array.from({ length: 60 }, () => detect({}, { kind: 'async' }));
      await expect(detect({}, { kind: 'async', deadlineMs: 1 })).rejects.toMatchObject({
        code: 'deadline_exceeded',
      });
      await Promise.all(crowd);
    });
  });

  describe('concurrency', () => {
    it('gives each of 200 mixed requests its own result, bit-equal whatever its neighbours', async () => {
      const variants: Partial<DetectOptions>[] = [
        {},
        { confidence: 0.001 },
        { classes: ['car'] },
        { maxDetections: 3 },
        { iou: 0.1, confidence: 0.01 },
      ];
      const cases = pictures.flatMap((path) => variants.map((options) => ({ path, options })));
      const alone: Detection[][] = [];
      for (const { path, options } of cases) {
        alone.push((await detect(options, { path })).detections);
      }
      const together = Array.from({ length: 200 }, (_unused, index) => {
        const which = (index * 7) % cases.length;
        const { path, options } = cases[which]!;
        return {
          which,
          result: detect(options, {
            path,
            // No more than run at once: more are refused on a slow machine.
            kind: index % 50 === 0 ? 'sync' : 'async',
            priority: index % 11,
          }),
        };
      });
      const failing = Promise.allSettled(
        Array.from({ length: 20 }, () => detect({}, { path: 'missing.png', kind: 'async' })),
      );
      for (const { which, result } of together) {
        expect((await result).detections).toEqual(alone[which]);
      }
      for (const outcome of await failing) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'image_not_found' } });
      }
    });
  });

  describe('what it says about itself', () => {
    it('is healthy, with device, precision and the reason for them', () => {
      expect(subject.detector.unhealthy()).toBeNull();
      const stats = subject.detector.stats();
      expect(stats.device).not.toBe('');
      expect(stats.reason).toContain(stats.device);
      expect(stats.reason).toContain(stats.precision);
      expect(stats.suggestedWindow).toBeGreaterThanOrEqual(1);
    });

    it('counts work', async () => {
      const before = subject.detector.stats();
      const work = [detect(), detect(), detect({}, { path: 'missing.png' })];
      expect(subject.detector.stats().inFlight).toBe(before.inFlight + 3);
      await Promise.allSettled(work);
      const after = subject.detector.stats();
      expect(after.completed - before.completed).toBe(2);
      expect(after.failed - before.failed).toBe(1);
      expect(after.inFlight).toBe(before.inFlight);
      expect(after.imagesPerSecond).toBeGreaterThan(0);
    });

    it('describes the model', async () => {
      const description = await subject.detector.prepare(subject.model);
      expect(description).toMatchObject({
        name: subject.model,
        state: 'ready',
        classes: ['car', 'motorcycle', 'bus', 'truck'],
        input: { width: 640, height: 640 },
      });
      expect(await subject.detector.models()).toContainEqual(description);
    });

    it('reads pictures by the same rules', async () => {
      expect(await subject.detector.readImage(PICTURE)).toEqual(readFileSync(join(DEMO, PICTURE)));
      await expect(subject.detector.readImage('../manifest.json')).rejects.toMatchObject({
        code: 'path_not_allowed',
      });
    });
  });

  it('settles every promise at close, and refuses afterwards', async () => {
    const short = await open(roots);
    const ask = () =>
      short.detector.detect({ ...request({ modelName: short.model }), kind: 'async' });
    const work = Array.from({ length: 100 }, ask);
    const closing = short.detector.close();
    const outcomes = await Promise.allSettled(work);
    await closing;
    await short.detector.close();
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') continue;
      expect(['shutting_down', 'cancelled']).toContain(outcome.reason.code);
    }
    await expect(ask()).rejects.toMatchObject({ code: 'shutting_down' });
    await expect(short.detector.readImage(PICTURE)).rejects.toMatchObject({
      code: 'shutting_down',
    });
    expect(short.detector.stats().queuedAsync).toBeGreaterThanOrEqual(0);
  });
}
