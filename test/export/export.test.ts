/** Rules of the formats for any boxes, and how files of any length are written. */
import fc from 'fast-check';
import { strFromU8, unzipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { zippedPictures } from '../../src/export/pictures.js';
import {
  ClassNumbers,
  isProcessed,
  relativeName,
  type ExportedImage,
} from '../../src/export/export-source.js';
import { EXPORT_FORMATS, FORMATS } from '../../src/export/formats.js';
import { cell } from '../../src/export/csv.js';
import { percentOf } from '../../src/export/labelstudio.js';
import { labelLines, UniqueStems } from '../../src/export/yolo.js';
import { zipped, type ZipFile } from '../../src/export/zipped.js';
import { parquetRows } from '../support/parquet-rows.js';
import { ENTRIES, exported, sourceOf } from './entries.js';

const SIDE = 20_000;
const image = fc.record({
  width: fc.integer({ min: 1, max: SIDE }),
  height: fc.integer({ min: 1, max: SIDE }),
});
const part = fc.double({ min: 0, max: 1, noNaN: true });
type Box = [number, number, number, number];
const boxed = fc
  .tuple(image, fc.tuple(part, part), fc.tuple(part, part))
  .map(([size, [a, b], [c, d]]) => ({
    size,
    box: [
      Math.min(a, b) * size.width,
      Math.min(c, d) * size.height,
      Math.max(a, b) * size.width,
      Math.max(c, d) * size.height,
    ] as Box,
  }));

/** Left, top, width, height as fractions -> corners in pixels. */
function corners(
  [left, top, width, height]: Box,
  size: { width: number; height: number },
): number[] {
  const [x, y] = [left * size.width, top * size.height];
  return [x, y, x + width * size.width, y + height * size.height];
}

function expectSame(found: readonly number[], box: Box, tolerance: number): void {
  found.forEach((side, index) => {
    expect(Math.abs(side - box[index]!)).toBeLessThanOrEqual(tolerance);
  });
}

test('percents give the box back, to a thousandth of a pixel of the largest image', () => {
  fc.assert(
    fc.property(boxed, ({ size, box }) => {
      const { x, y, width, height } = percentOf(box, size);
      expectSame(corners([x / 100, y / 100, width / 100, height / 100], size), box, 0.001);
    }),
  );
});

test('a YOLO label has five columns of fractions that give the box back', () => {
  fc.assert(
    fc.property(boxed, ({ size, box }) => {
      const detection = { box, confidence: 0.5, class: 'car' };
      const line = labelLines([detection], size, new ClassNumbers(['bus', 'car']));
      expect(line).toMatch(/^1( [01]\.\d{6}){4}\n$/);
      const [, x, y, width, height] = line.split(' ').map(Number) as [number, ...Box];
      // Half a millionth in the centre and in half of the side.
      const found = corners([x - width / 2, y - height / 2, width, height], size);
      expectSame(found, box, SIDE * 1.5e-6);
    }),
  );
});

test('stems are unique without regard to letter case', () => {
  const stem = fc.constantFrom('a', 'A', 'a-2', 'A-2', 'a-3', 'b', 'B-2');
  fc.assert(
    fc.property(fc.array(stem, { maxLength: 40 }), (given) => {
      const stems = new UniqueStems();
      const made = given.map((name) => stems.of(name).toLowerCase());
      expect(new Set(made).size).toBe(given.length);
    }),
  );
});

test.each([
  ['a,b', '"a,b"'],
  ['say "a"', '"say ""a"""'],
  ['two\nlines', '"two\nlines"'],
  ['=1+1', "'=1+1"],
  ['@sum,', '"\'@sum,"'],
  ['-a', "'-a"],
  ['+a', "'+a"],
  ['plain - text', 'plain - text'],
])('the cell of %j is %s', (text, expected) => {
  expect(cell(text)).toBe(expected);
});

test('tables that go with files name them as they are', async () => {
  const named = ['-minus.jpg', '=1+1.jpg', '@a, "b".jpg', '+x.jpg'];
  const entries = named.map((image_path) => ({ ...ENTRIES[0]!, image_path }));
  const archive = unzipSync(await exported('yolo', sourceOf(entries)));
  expect(strFromU8(archive['images.csv']!).split('\r\n').slice(1, 5)).toEqual([
    expect.stringMatching(/^-minus\.jpg,-minus\.jpg,/),
    expect.stringMatching(/^=1\+1\.jpg,=1\+1\.jpg,/),
    expect.stringMatching(/^"@a, _b_\.jpg","@a, ""b""\.jpg",/),
    expect.stringMatching(/^\+x\.jpg,\+x\.jpg,/),
  ]);
});

test.each(EXPORT_FORMATS.filter((format) => format !== 'coco-results'))(
  '%s says which model file an image ran on',
  async (format) => {
    const file = await exported(format, sourceOf(ENTRIES));
    const files = format === 'yolo' ? unzipSync(file) : { file };
    const text = Object.values(files)
      .map((bytes) => Buffer.from(bytes).toString())
      .join('\n');
    expect(text).toContain('3f1c0a5b9d2e7788');
  },
);

test('a map has a point for each image that says where it was taken, and counts the others', async () => {
  const { features, ...members } = JSON.parse(
    (await exported('geojson', sourceOf(ENTRIES))).toString(),
  ) as { features: unknown[] };
  expect(members).toEqual({
    type: 'FeatureCollection',
    job_id: 'job_1',
    model: 'own.pt',
    images_without_position: 3,
    failed_images: 1,
  });
  // RFC 7946 has the longitude first.
  expect(features).toEqual([
    {
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [151.215297, -33.856784] },
      properties: {
        image_path: '/2026/a, "b".jpg',
        taken_at: '2026-11-26T14:30:00',
        car_count: 1,
        total_count: 2,
        class_counts: { car: 1, 'traffic light': 1 },
        image: { width: 640, height: 480 },
        boxes: [
          { class: 'car', confidence: 0.953125, box: [10.5, 20.25, 110.5, 220.75] },
          { class: 'traffic light', confidence: 0.5, box: [0, 0, 640, 480] },
        ],
        model_digest: '3f1c0a5b9d2e7788',
      },
    },
  ]);
});

test('Parquet has the rows of the CSV file, in groups', async () => {
  const many = Array.from({ length: 1_500 }, (_, index) => ({
    ...ENTRIES[0]!,
    image_path: `${index}.jpg`,
  }));
  const file = await exported('parquet', sourceOf([...ENTRIES, ...many], { pageSize: 100 }));
  const rows = await parquetRows(file);
  expect(rows).toHaveLength(4 + 2 * many.length);
  expect(rows[0]).toEqual({
    ...{ x_min: 10.5, y_min: 20.25, x_max: 110.5, y_max: 220.75, class_id: 1 },
    ...{ confidence: 0.953125, tracker_id: null, class_name: 'car', image_height: 480 },
    ...{ image_path: '/2026/a, "b".jpg', image_width: 640, job_id: 'job_1', model: 'own.pt' },
    ...{ regions: 'gate;exit, "B"', alternative: 'bus', alternative_confidence: 0.375 },
    ...{ model_digest: '3f1c0a5b9d2e7788', precision: 'f32' },
    ...{ latitude: -33.856784, longitude: 151.215297 },
  });
  // No spreadsheet runs it.
  expect(rows[3]).toMatchObject({ image_path: '=straße 7.png', latitude: null, regions: null });
  expect(rows.at(-1)).toMatchObject({ image_path: '1499.jpg' });
  const header = (await exported('csv', sourceOf(ENTRIES))).toString().split('\r\n')[0];
  expect(Object.keys(rows[0]!).join()).toBe(header);
});

describe.each(EXPORT_FORMATS)('%s', (format) => {
  test('is the same file for any size of page', async () => {
    const whole = await exported(format, sourceOf(ENTRIES, { pageSize: 100 }));
    for (const pageSize of [1, 3]) {
      expect(whole.equals(await exported(format, sourceOf(ENTRIES, { pageSize })))).toBe(true);
    }
  });

  test('of failed images alone is a valid file', async () => {
    const failed: ExportedImage[] = [
      { image_path: 'a.jpg', status: 'error', error: { detail: 'It is damaged.' } },
    ];
    const file = await exported(format, sourceOf(failed));
    if (format === 'yolo') expect(unzipSync(file)).toHaveProperty(['README.txt']);
    else if (format === 'parquet') expect(await parquetRows(file)).toEqual([]);
    else if (format === 'csv')
      expect(file.toString()).toMatch(
        /^x_min,.*,model,regions,alternative,alternative_confidence,model_digest,precision,latitude,longitude\r\n$/,
      );
    else if (format === 'coco') {
      const { images, info } = JSON.parse(file.toString()) as { images: unknown; info: unknown };
      expect(images).toEqual([]);
      expect(info).toMatchObject({ failed_images: 1, job_id: 'job_1', model: 'own.pt' });
    } else if (format === 'geojson') {
      expect(JSON.parse(file.toString())).toEqual({
        ...{ type: 'FeatureCollection', features: [], job_id: 'job_1', model: 'own.pt' },
        ...{ images_without_position: 0, failed_images: 1 },
      });
    } else {
      expect(JSON.parse(file.toString())).toEqual(format === 'ndjson' ? failed[0] : []);
    }
  });

  test('reads no further than its reader, and ends when it goes away', async () => {
    let [read, open] = [0, 0];
    const page: ExportedImage[] = Array<ExportedImage>(200).fill(ENTRIES[0]!);
    const pages = async function* () {
      open += 1;
      try {
        for (; read < 1_000; read += 1) yield await Promise.resolve(page);
      } finally {
        open -= 1;
      }
    };
    const pieces = FORMATS[format].write({ ...sourceOf([]), pages });
    await pieces.next();
    await pieces.next();
    await pieces.next();
    // A piece of the archive holds the labels of some pages.
    expect(read).toBeLessThan(20);
    expect(open).toBe(1);
    await pieces.return();
    expect(open).toBe(0);
  });
});

test('classes are numbered as the model has them; others come after', async () => {
  const known = new ClassNumbers(['car', 'bus']);
  expect(['bus', 'tram', 'car', 'tram', 'lorry'].map((name) => known.of(name))).toEqual([
    1, 2, 0, 2, 3,
  ]);
  expect(known.names).toEqual(['car', 'bus', 'tram', 'lorry']);
  const file = (await exported('coco', sourceOf(ENTRIES, { classes: [] }))).toString();
  const { categories } = JSON.parse(file) as { categories: unknown };
  expect(categories).toEqual(
    ['car', 'traffic light', 'tram', 'bus'].map((name, index) => ({ id: index + 1, name })),
  );
});

test('an archive of drawn pictures has each one once, and says which images have none', async () => {
  const drawn: [path: string, boxes: number][] = [];
  const archive = zippedPictures({
    look: { kind: 'drawn' },
    ...sourceOf(ENTRIES, { pageSize: 2 }),
    isShown: ({ class: name }) => name === 'car',
    make: (path, { detections }) => {
      drawn.push([path, detections.length]);
      const isLast = drawn.length === ENTRIES.filter(isProcessed).length;
      return Promise.resolve(isLast ? { leftOut: 'It is gone.' } : { jpegs: [Buffer.from(path)] });
    },
  });
  const pieces: Uint8Array[] = [];
  for await (const piece of archive) pieces.push(piece);
  const files = unzipSync(Buffer.concat(pieces));
  const text = (name: string) => Buffer.from(files[name]!).toString();
  const ok = ENTRIES.filter(isProcessed);
  expect(drawn).toEqual(
    ok.map(({ image_path, detections }) => [
      image_path,
      detections.filter((box) => box.class === 'car').length,
    ]),
  );
  const rows = text('pictures.csv').trimEnd().split('\r\n').slice(1);
  expect(rows).toHaveLength(ok.length - 1);
  const pictures = Object.keys(files).filter((name) => name.startsWith('pictures/'));
  expect(pictures.map(text)).toEqual(ok.slice(0, -1).map(({ image_path }) => image_path));
  expect(text('left-out.txt')).toContain('broken.jpg: It is damaged.\n');
  expect(text('left-out.txt')).toContain(`${relativeName(ok.at(-1)!.image_path)}: It is gone.\n`);
});

describe('an archive', () => {
  async function archiveOf(count: number): Promise<Buffer> {
    async function* files(): AsyncGenerator<ZipFile, void> {
      for (let index = 0; index < count; index += 1) {
        yield await Promise.resolve({ name: `${index}.txt`, content: `${index}` });
      }
    }
    const pieces: Uint8Array[] = [];
    for await (const piece of zipped(files())) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  test.each([0, 1, 65_535])('of %i files has them all', async (count) => {
    const archive = unzipSync(await archiveOf(count));
    expect(Object.keys(archive)).toHaveLength(count);
    if (count > 0)
      expect(Buffer.from(archive[`${count - 1}.txt`]!).toString()).toBe(`${count - 1}`);
  });

  test('rejects with the error of its files', async () => {
    // eslint-disable-next-line require-yield
    async function* files(): AsyncGenerator<ZipFile, void> {
      throw await Promise.resolve(new Error('The store is gone.'));
    }
    await expect(zipped(files()).next()).rejects.toThrow('The store is gone.');
  });
});
