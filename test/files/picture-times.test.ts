/** When pictures were taken: by their EXIF data, their names and their files, read beside a service that goes on. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PictureTimes } from '../../src/files/picture-times.js';
import { timeInName, wallTimeOf } from '../../src/files/wall-time.js';
import { holdFolder } from '../support/held-folder.js';

const TAKEN = '2024-02-29T07:08:09';
/** Time of the last change of the files: 2001, in the zone of this process. */
const CHANGED = new Date(2001, 1, 3, 4, 5, 6);
const CHANGED_TEXT = '2001-02-03T04:05:06';

let folder: string;
let root: string;
let times: PictureTimes;

const exif = { IFD2: { DateTimeOriginal: '2024:02:29 07:08:09' } };
const plain = () =>
  sharp({ create: { width: 24, height: 16, channels: 3, background: { r: 9, g: 99, b: 9 } } });

function put(path: string, bytes: Buffer | string): void {
  writeFileSync(join(folder, path), bytes);
  utimesSync(join(folder, path), CHANGED, CHANGED);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-times-'));
  root = join(folder, 'root');
  for (const name of ['root', 'root/cam', 'second', 'outside']) mkdirSync(join(folder, name));
  const dated = () => plain().withExif(exif);
  const jpeg = await dated().jpeg().toBuffer();
  put('root/a.jpg', jpeg);
  put('root/cam/20201112_131415.jpg', jpeg);
  put('root/a.png', await dated().png().toBuffer());
  put('root/a.webp', await dated().webp().toBuffer());
  put('root/plain.jpg', await plain().jpeg().toBuffer());
  put('root/IMG_20201112_131415.jpg', await plain().jpeg().toBuffer());
  put('root/cut.jpg', jpeg.subarray(0, 90));
  put('root/empty.jpg', '');
  const wrong = { IFD2: { DateTimeOriginal: '2024:13:29 07:08:09' } };
  put('root/wrong.jpg', await plain().withExif(wrong).jpeg().toBuffer());
  put('second/only.jpg', jpeg);
  put('outside/secret.jpg', jpeg);
  symlinkSync('a.jpg', join(root, 'link-in.jpg'));
  symlinkSync('../outside/secret.jpg', join(root, 'link-out.jpg'));
  execFileSync('mkfifo', [join(root, 'fifo.jpg')]);
  times = new PictureTimes([root, join(folder, 'second')]);
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test.each(['a.jpg', 'a.png', 'a.webp', 'link-in.jpg', 'only.jpg'])(
  '%s has the time of its EXIF data',
  async (path) => {
    expect(await times.of(path)).toEqual({ time: TAKEN, source: 'exif' });
  },
);

test('a TIFF is EXIF data itself, of either byte order', async () => {
  for (const order of ['II', 'MM']) {
    put(`root/${order}.tif`, tiffOf(order, '2024:02:29 07:08:09'));
    expect(await times.of(`${order}.tif`)).toEqual({ time: TAKEN, source: 'exif' });
  }
});

test.each([
  ['2024:02:29 07:08:09', {}, TAKEN],
  ['2024-02-29 07:08:09', {}, TAKEN],
  ['2024/02/29 07:08:09', {}, TAKEN],
  ['2024-02-29T07:08:09', {}, TAKEN],
  ['2024:02-29 07:08:09', {}, null],
  ['2024:02:30 07:08:09', {}, null],
  ['    :  :     :  :  ', {}, null],
  ['2024:02:29 07:08:09', { exifTag: 0x9004 }, TAKEN],
  ['2024:02:29 07:08:09', { firstTag: 0x0132 }, TAKEN],
  ['2024:02:29 07:08:09', { firstTag: 0x0131 }, null],
])('the EXIF time %j of %j is %s', async (text, tags, time) => {
  put('root/exif.tif', tiffOf('II', text, tags));
  expect(await times.of('exif.tif')).toMatchObject(
    time === null ? { source: 'file' } : { time, source: 'exif' },
  );
});

test('DateTimeOriginal counts before DateTimeDigitized, and that before DateTime', async () => {
  const [original, digitized, last] = ['2021', '2022', '2023'].map(
    (year) => `${year}:02:03 04:05:06`,
  );
  const written = async (ifd0: Record<string, string>, ifd2: Record<string, string>) => {
    put('root/three.jpg', await plain().withExif({ IFD0: ifd0, IFD2: ifd2 }).jpeg().toBuffer());
    return (await times.of('three.jpg'))?.time.slice(0, 4);
  };
  const DateTime = last ?? '';
  const DateTimeDigitized = digitized ?? '';
  const DateTimeOriginal = original ?? '';
  expect(await written({ DateTime }, { DateTimeDigitized, DateTimeOriginal })).toBe('2021');
  expect(await written({ DateTime }, { DateTimeDigitized })).toBe('2022');
  expect(await written({ DateTime }, {})).toBe('2023');
});

test('EXIF data counts before the name, the name before the file', async () => {
  expect(await times.of('cam/20201112_131415.jpg')).toEqual({ time: TAKEN, source: 'exif' });
  const named = { time: '2020-11-12T13:14:15', source: 'name' };
  expect(await times.of('IMG_20201112_131415.jpg')).toEqual(named);
  expect(await times.of(join(root, 'IMG_20201112_131415.jpg'))).toEqual(named);
  for (const path of ['plain.jpg', 'cut.jpg', 'empty.jpg', 'wrong.jpg']) {
    expect([path, await times.of(path)]).toEqual([path, { time: CHANGED_TEXT, source: 'file' }]);
  }
});

test('what detection would not open has no time but that of its name', async () => {
  for (const path of ['absent.jpg', 'link-out.jpg', 'fifo.jpg', 'cam', '/etc/passwd']) {
    expect([path, await times.of(path)]).toEqual([path, null]);
  }
  expect(await times.of('gone/20201112_131415.jpg')).toMatchObject({ source: 'name' });
});

test('many at once are each answered', async () => {
  const paths = Array.from({ length: 300 }, (_, index) => (index % 2 ? 'a.jpg' : 'plain.jpg'));
  const found = await Promise.all(paths.map((path) => times.of(path)));
  expect(found.map((each) => each?.source)).toEqual(
    paths.map((path) => (path === 'a.jpg' ? 'exif' : 'file')),
  );
});

test('pictures that have begun are read with the first that somebody waits for', async () => {
  put('root/first.jpg', await plain().withExif(exif).jpeg().toBuffer());
  put('root/moved.jpg', await plain().withExif(exif).jpeg().toBuffer());
  const [first, moved] = ['first.jpg', 'moved.jpg'].map((path) => times.begin(path));
  expect(await first?.()).toMatchObject({ source: 'exif' });
  rmSync(join(root, 'moved.jpg'));
  expect(await moved?.()).toMatchObject({ source: 'exif' });
  expect(await first?.()).toMatchObject({ source: 'exif' });
});

test('a volume that hangs costs the time, not the answer', async (context) => {
  await using held = await holdFolder(join(root, 'cam'));
  if (held === null) return context.skip();
  const patient = new PictureTimes([root, join(folder, 'second')], 2_000);
  const late = patient.of('cam/20201112_131415.jpg');
  expect(await late).toEqual({ time: '2020-11-12T13:14:15', source: 'name' });
  expect(await patient.of(join(folder, 'second/only.jpg'))).toMatchObject({ source: 'exif' });
});

test('every moment is found in a name in each way to write it, and only in whole', () => {
  const moment = fc.date({
    min: new Date(1971, 0, 1),
    max: new Date(2099, 11, 31),
    noInvalidDate: true,
  });
  const two = (value: number) => String(value).padStart(2, '0');
  const separator = fc.constantFrom('', '-', '.', '_');
  fc.assert(
    fc.property(
      moment,
      separator,
      fc.constantFrom('_', 'T', ' ', '-', ' at '),
      separator,
      fc.constantFrom('', 'IMG_', 'cam3-'),
      (at, inDate, between, inTime, before) => {
        const date = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join(inDate);
        const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(inTime);
        const name = `${before}${date}${between}${time}.jpg`;
        expect(timeInName(name)).toBe(wallTimeOf(at));
        expect(timeInName(`${before}${date}${between}${time}99999.jpg`)).toBeNull();
      },
    ),
  );
});

/** A TIFF without pixels: its directory, and the text; between them, without `firstTag`, the EXIF directory. */
function tiffOf(
  order: string,
  text: string,
  { firstTag, exifTag = 0x9003 }: { firstTag?: number; exifTag?: number } = {},
): Buffer {
  const bytes = Buffer.alloc(80);
  const u16 = (value: number, at: number) =>
    order === 'II' ? bytes.writeUInt16LE(value, at) : bytes.writeUInt16BE(value, at);
  const u32 = (value: number, at: number) =>
    order === 'II' ? bytes.writeUInt32LE(value, at) : bytes.writeUInt32BE(value, at);
  bytes.write(order, 0, 'latin1');
  u16(42, 2);
  u32(8, 4);
  const directory = (at: number, tag: number, type: number, count: number, value: number) => {
    u16(1, at);
    u16(tag, at + 2);
    u16(type, at + 4);
    u32(count, at + 6);
    u32(value, at + 10);
  };
  if (firstTag === undefined) directory(8, 0x8769, 4, 1, 30);
  else directory(8, firstTag, 2, 20, 52);
  directory(30, exifTag, 2, 20, 52);
  bytes.write(text, 52, 'latin1');
  return bytes;
}
