import { expect, test } from 'vitest';
import fc from 'fast-check';
import type { FileRead } from '../../src/api/schemas/file-read.js';
import { DEFAULT_PARAMETERS, PARAMETER_ROWS, type DetectOptions } from '../../src/api/options.js';
import { reuseKeys, settledStamp, type ReuseSubject } from '../../src/jobs/reuse-key.js';

const options: DetectOptions = { ...DEFAULT_PARAMETERS, modelName: 'a.pt', classes: null };
const subject: ReuseSubject = {
  environment: '["1.0.0","auto"]',
  owner: 'key-1',
  options,
  view: undefined,
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

const text = fc.string({ maxLength: 12 });
const share = fc.double({ min: 0, max: 1, noNaN: true });
const values: Record<(typeof PARAMETER_ROWS)[number]['kind'], fc.Arbitrary<unknown>> = {
  fraction: share,
  count: fc.integer({ min: 1, max: 300 }),
  switch: fc.constantFrom(null, true, false),
  size: fc.double({ min: 0, max: 1e5, noNaN: true }),
  fractions: fc.dictionary(text, share, { maxKeys: 3 }),
  tiles: fc.oneof(
    fc.constantFrom('off', 'auto'),
    fc.record({ columns: fc.integer({ min: 1, max: 9 }), rows: fc.integer(), overlap: share }),
    fc.record({ size: fc.integer({ min: 32, max: 9_999 }), overlap: share }),
  ),
  regions: fc.option(
    fc.array(
      fc.record({
        name: text,
        polygon: fc.array(fc.tuple(share, share), { minLength: 3, maxLength: 4 }),
        classes: fc.option(fc.array(text)),
        anchor: fc.option(fc.oneof(fc.constantFrom('bottom', 'centre'), share)),
        ignore: fc.option(fc.boolean()),
      }),
      { maxLength: 2 },
    ),
  ),
  view: fc.option(text),
};
const anyOptions = fc.record({
  modelName: text,
  classes: fc.option(fc.array(text, { maxLength: 3 })),
  ...Object.fromEntries(PARAMETER_ROWS.map(({ name, kind }) => [name, values[kind]])),
}) as unknown as fc.Arbitrary<DetectOptions>;

test('options that differ in anything have another key, the same options the same', () => {
  fc.assert(
    fc.property(anyOptions, anyOptions, fc.constantFrom(...Object.keys(options)), (a, b, name) => {
      const changed = { ...a, [name]: Reflect.get(b, name) as unknown };
      const isSame = JSON.stringify(changed) === JSON.stringify(a);
      const [first, second] = [keys({ options: a }), keys({ options: changed })];
      expect(first.unchanged === second.unchanged).toBe(isSame);
      expect(first.content === second.content).toBe(isSame);
      expect(keys({ options: structuredClone(a) })).toEqual(first);
    }),
    { numRuns: 1_000 },
  );
});

test.each<[string, Partial<ReuseSubject>]>([
  ['release or settings', { environment: '["1.0.1","auto"]' }],
  ['owner', { owner: 'key-2' }],
  ['owner to none', { owner: null }],
  ['version of the view', { view: { name: 'north', version: 2 } }],
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
