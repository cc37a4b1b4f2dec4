import { expect, test } from 'vitest';
import fc from 'fast-check';
import type { FileRead } from '../../src/api/schemas/file-read.js';
import { DEFAULT_PARAMETERS, type DetectOptions } from '../../src/api/options.js';
import { reuseKeys, settledStamp, type ReuseSubject } from '../../src/jobs/reuse-key.js';

const options: DetectOptions = { ...DEFAULT_PARAMETERS, modelName: 'a.pt', classes: null };
const subject: ReuseSubject = {
  environment: '["1.0.0","auto"]',
  owner: 'key-1',
  options,
  scoreFloor: 0.05,
  modelDigest: '0123456789abcdef',
  precision: 'f32',
};
const file: FileRead = {
  size: 10,
  modifiedNs: '1790000000000000000',
  changedNs: '1790000000000000001',
  device: '2049',
  inode: '77',
  readAt: 1_790_000_100,
};
const keys = (changed: Partial<ReuseSubject> = {}, path = 'a.jpg', stamp = file, digest = 'ab') =>
  reuseKeys({ ...subject, ...changed }, path, stamp, digest);

const share = fc.double({ min: 0, max: 1, noNaN: true });
const anyOptions = fc.record({
  modelName: fc.constantFrom('a.pt', 'b.pt'),
  iou: fc.constantFrom(0.5, 0.7),
  tiles: fc.constantFrom<DetectOptions['tiles']>('off', 'auto', { size: 640, overlap: 0.2 }),
});
const questions = fc.record({
  confidence: fc.double({ min: 0.05, max: 1, noNaN: true }),
  classes: fc.option(fc.array(fc.string(), { maxLength: 3 })),
  mergeClasses: fc.option(fc.boolean()),
  minSize: share,
  maxDetections: fc.integer({ min: 1, max: 300 }),
  view: fc.option(fc.string()),
});

test('options that the boxes depend on make another key, what is asked of them does not', () => {
  const asked = fc.tuple(anyOptions, questions);
  fc.assert(
    fc.property(asked, asked, ([a, one], [b, other]) => {
      const first = keys({ options: { ...options, ...a, ...one } });
      const second = keys({ options: { ...options, ...b, ...other } });
      const isSame = JSON.stringify(a) === JSON.stringify(b);
      expect(first.unchanged === second.unchanged).toBe(isSame);
      expect(first.content === second.content).toBe(isSame);
    }),
    { numRuns: 1_000 },
  );
});

test('a threshold below the floor makes another key', () => {
  const low = keys({ options: { ...options, confidence: 0.01 } });
  expect(low.unchanged).not.toBe(keys().unchanged);
  expect(keys({ scoreFloor: 0.1 }).unchanged).not.toBe(keys().unchanged);
});

test.each<[string, Partial<ReuseSubject>]>([
  ['release or settings', { environment: '["1.0.1","auto"]' }],
  ['owner', { owner: 'key-2' }],
  ['owner to none', { owner: null }],
  ['model', { modelDigest: '0123456789abcdee' }],
  ['precision', { precision: 'int8' }],
])('another %s is another key', (_what, changed) => {
  expect(keys(changed).unchanged).not.toBe(keys().unchanged);
  expect(keys(changed).content).not.toBe(keys().content);
});

test.each(['size', 'modifiedNs', 'changedNs', 'device', 'inode'] as const)(
  'another %s of the file is another key, of its content the same',
  (field) => {
    const changed = { ...file, [field]: field === 'size' ? 11 : '1' };
    expect(keys({}, 'a.jpg', changed).unchanged).not.toBe(keys().unchanged);
    expect(keys({}, 'a.jpg', changed).content).toBe(keys().content);
  },
);

test('another path is another key, of the same content the same', () => {
  expect(keys({}, 'b.jpg').unchanged).not.toBe(keys().unchanged);
  expect(keys({}, 'b.jpg').content).toBe(keys().content);
  expect(keys({}, 'a.jpg', file, 'ac').content).not.toBe(keys().content);
});

test('a file that was changed within 2 s of its reading has no stamp to rely on', () => {
  const readAfter = (seconds: number) =>
    settledStamp({ ...file, readAt: Number(BigInt(file.changedNs) / 1_000n) / 1e6 + seconds });
  expect(readAfter(1.99)).toBeNull();
  expect(readAfter(-3_600)).toBeNull();
  expect(readAfter(2.01)).not.toBeNull();
  const touched = { ...file, changedNs: String(1_790_000_099n * 1_000_000_000n) };
  expect(settledStamp(touched)).toBeNull();
});
