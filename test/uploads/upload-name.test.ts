import { join, normalize } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kindByBytes } from '../../src/files/file-kind.js';
import { refusedName } from '../../src/uploads/upload-name.js';

test.each([
  ['photo.jpg'],
  ['holiday/day 2/IMG_0001.JPEG'],
  ['é/日本.png'],
  ['cafe\u0301.webp'],
  ['a%2Fb.jpg'],
  ['a\\b.jpg'],
  ['..a.jpg'.slice(2)],
  [`${'x'.repeat(251)}.jpg`],
])('%j is taken', (name) => {
  expect(refusedName(name)).toBeNull();
});

test.each([
  [''],
  ['/etc/photo.jpg'],
  ['../photo.jpg'],
  ['a/../photo.jpg'],
  ['a/./photo.jpg'],
  ['a//photo.jpg'],
  ['a/'],
  ['a\0.jpg'],
  ['a\n.jpg'],
  ['\ud800.jpg'],
  [`${'x'.repeat(296)}.jpg`],
  [`${'é'.repeat(126)}.jpg`],
  [`${'a/'.repeat(32)}b.jpg`],
  [
    `${'abcdefg/'.repeat(16)}${'x'.repeat(250)}/${'y'.repeat(250)}/${'z'.repeat(250)}/${'z'.repeat(250)}.jpg`,
  ],
])('%j is no name', (name) => {
  expect(refusedName(name)?.isName).toBe(true);
});

test.each([
  ['IMG_1.HEIC', 'HEIC'],
  ['clip.mov', 'video'],
  ['clip.MP4', 'video'],
  ['a.gif', 'GIF'],
  ['a.CR2', 'camera raw'],
  ['notes.txt', 'other file'],
  ['no-ending', 'other file'],
  ['.DS_Store', 'hidden file'],
  ['a/._IMG_1.jpg', 'hidden file'],
  ['.trash/a.jpg', 'hidden file'],
  ['a/@eaDir/a.jpg', 'hidden file'],
])('%s is left out as %s', (name, kind) => {
  expect(refusedName(name)).toMatchObject({ kind, isName: false });
});

test.each([
  ['notes.txt', 'Files of this kind are not read.'],
  ['clip.mov', 'Videos are not read: save single pictures of them.'],
  ['IMG_1.HEIC', 'HEIC pictures are not read: save them as JPEG.'],
])('%s is refused in words that are true of its kind', (name, detail) => {
  expect(refusedName(name)?.detail).toBe(detail);
});

test('no name that is taken leads out of its folder', () => {
  const part = fc.oneof(
    fc.constantFrom('..', '.', '', 'a', '...', '~', '\\', 'C:', '%2e%2e', ' '),
    fc.string({ unit: 'grapheme', maxLength: 8 }),
  );
  const names = fc
    .array(part, { minLength: 1, maxLength: 6 })
    .map((parts) => `${parts.join('/')}.jpg`);
  fc.assert(
    fc.property(names, (name) => {
      if (refusedName(name) !== null) return;
      const path = join('/data/files', name);
      expect(path).toBe(`/data/files/${name}`);
      expect(normalize(path)).toBe(path);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['HEIC', '\0\0\0\x18ftypheic\0\0\0\0mif1heic'],
  ['video', '\0\0\0\x14ftypqt  \0\0\0\0'],
  ['video', '\0\0\0\x18ftypmp42\0\0\0\0'],
  ['video', '\x1A\x45\xDF\xA3'],
  ['GIF', 'GIF89a'],
  ['SVG', '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'],
  ['other file', 'not a picture'],
  ['empty file', ''],
])('bytes of a %s', (kind, text) => {
  expect(kindByBytes(Buffer.from(text, 'latin1'))).toBe(kind);
});
