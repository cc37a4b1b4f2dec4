import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { PACKAGE_ROOT } from '../../src/config.js';
import { parseClassNames, readOnnxMetadata } from '../../src/models/onnx-metadata.js';

const folder = mkdtempSync(join(tmpdir(), 'lattice-onnx-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('metadata of an ONNX file', () => {
  it('is read from the bundled model', async () => {
    const metadata = await readOnnxMetadata(join(PACKAGE_ROOT, 'models/tiny/tiny-v8.onnx'));
    expect(metadata).toMatchObject({ task: 'detect', stride: '32', license: 'Apache-2.0' });
    expect(parseClassNames(metadata.names ?? '')).toEqual(['car', 'motorcycle', 'bus', 'truck']);
  });

  it('is empty for an empty file', async () => {
    const path = join(folder, 'empty.onnx');
    writeFileSync(path, '');
    expect(await readOnnxMetadata(path)).toEqual({});
  });

  it('never hangs or grows on bytes that are no ONNX', async () => {
    const path = join(folder, 'random.onnx');
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        writeFileSync(path, bytes);
        const outcome = await readOnnxMetadata(path).catch(() => ({}));
        expect(Object.keys(outcome).length).toBeLessThan(100);
      }),
      { numRuns: 200 },
    );
  });

  it('rejects for a cut file', async () => {
    const path = join(folder, 'cut.onnx');
    writeFileSync(path, Buffer.from([0x08, 0x08, 0x3a, 0xff, 0x01, 0x00]));
    await expect(readOnnxMetadata(path)).rejects.toThrow('truncated');
  });
});

describe('class names of a Python dict literal', () => {
  it('handles both quotes, escapes and any order', () => {
    expect(parseClassNames(`{1: "driver's seat", 0: 'it\\'s, {2: x}', 2:'b'}`)).toEqual([
      "it's, {2: x}",
      "driver's seat",
      'b',
    ]);
  });

  it('reads escapes as the native parser does', () => {
    expect(parseClassNames(String.raw`{0: 'caf\xe9', 1: 'a\tb\\n', 2: "\u8eca"}`)).toEqual([
      'café',
      'a\tb\\n',
      '車',
    ]);
    const unusual = String.raw`{0: 'a\r\U0001f697', 1: 'a\ud83db', 2: '\U00110000\uffff'}`;
    expect(parseClassNames(unusual)).toEqual(['a\r🚗', 'a\ufffdb', '\ufffd\uffff']);
  });

  it('takes no time for long nonsense', () => {
    const started = performance.now();
    for (const part of ['1', ' ', `1:'`, '1:"\\', '1 ']) {
      expect(parseClassNames(`{0${part.repeat(100_000)}`).length).toBeLessThan(3);
    }
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it('fills gaps and ignores nonsense', () => {
    expect(parseClassNames(`{2: 'b'}`)).toEqual(['class 0', 'class 1', 'b']);
    expect(parseClassNames('names')).toEqual([]);
    expect(parseClassNames(`{999999999: 'x'}`)).toEqual([]);
  });
});
