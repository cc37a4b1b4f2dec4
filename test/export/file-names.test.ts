/** Folders of classes: whatever a class is called, it has one folder that every file system takes as it is. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { classFolder } from '../../src/export/file-names.js';

test('any class has a folder that is one part of a path, is not hidden, and is kept by all file systems', () => {
  const odd = fc.constantFrom('.', ' ', '/', '\\', ':', '\u0000', 'ä', '😀', 'a');
  const name = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: odd, maxLength: 400 }));
  fc.assert(
    fc.property(name, (text) => {
      const folder = classFolder(text);
      // eslint-disable-next-line no-control-regex
      expect(folder).toMatch(/^[^./\\:*?"<>|\u0000-\u001f][^/\\:*?"<>|\u0000-\u001f]*$/);
      expect(folder).not.toMatch(/[. ]$/);
      expect(Buffer.byteLength(folder)).toBeLessThanOrEqual(180);
      expect(classFolder(folder)).toBe(folder);
    }),
  );
});

test('names as models have them stay as they are', () => {
  for (const name of ['car', 'traffic light', 'v1.5', 'Straße', ' car'])
    expect(classFolder(name)).toBe(name);
  expect(['a.', 'a', '..', '../a/b', ''].map(classFolder)).toEqual(['a_', 'a', '_', '__a_b', '_']);
});
