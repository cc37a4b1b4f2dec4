/**
 * Images that come as bytes: the same boxes as from their files, and memory that is held exactly as long as it is read.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NativeModel } from '../../src/native/contract.js';
import type { Core } from '../../src/native/core.js';
import { codeOf, openTestCore, ROOT, runAll, taskFor } from './open-test-core.js';
import { HANG_MS } from '../support/eventually.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const SHAPES = join(ROOT, 'models', 'demo', 'shapes.png');

let core: Core;
let model: NativeModel;

beforeAll(async () => {
  ({ core, model } = await openTestCore());
});
afterAll(() => core.close());

const sent = (bytes: Uint8Array, kind: 'sync' | 'async' = 'sync') =>
  taskFor(model, { path: null, bytes, kind });

describe('an image that is sent', () => {
  it('gives the boxes of its file, alone and among files', async () => {
    const bytes = readFileSync(SHAPES);
    const byPath = await core.run(taskFor(model));
    const mixed = await Promise.all(
      runAll(
        core,
        Array.from({ length: 24 }, (_, i) =>
          i % 2 === 0 ? sent(bytes, i % 4 === 0 ? 'sync' : 'async') : taskFor(model),
        ),
      ),
    );
    expect(byPath.boxes.length).toBeGreaterThan(0);
    for (const { boxes } of mixed) expect(boxes).toEqual(byPath.boxes);
  });

  it('fails with the codes of a file', async () => {
    const png = readFileSync(SHAPES);
    const wide = await sharp({
      create: { width: 17_000, height: 1, channels: 3, background: 'red' },
    })
      .png()
      .toBuffer();
    const ends = await Promise.allSettled(
      runAll(core, [
        sent(Buffer.alloc(0)),
        sent(Buffer.from('no image')),
        sent(png.subarray(0, png.length / 2)),
        sent(wide),
      ]),
    );
    expect(ends.map(codeOf)).toEqual([
      'invalid_image',
      'unsupported_image_format',
      'invalid_image',
      'image_too_large',
    ]);
  });

  it('is held while it is read, and no longer', async () => {
    const collected = new Set<string>();
    const registry = new FinalizationRegistry<string>((name) => collected.add(name));
    const file = readFileSync(SHAPES);
    // The only owner of each buffer is the task, and its registration does not count.
    const start = (name: string, signal?: AbortSignal) => {
      const bytes = new Uint8Array(new ArrayBuffer(file.length));
      bytes.set(file);
      registry.register(bytes, name);
      return core.run({ ...sent(bytes), signal });
    };
    const cancel = new AbortController();
    const runs = Array.from({ length: 8 }, (_, i) => start(`run ${i}`));
    const cancelled = Array.from({ length: 8 }, (_, i) => start(`cancelled ${i}`, cancel.signal));
    await Promise.resolve();
    collectGarbage();
    cancel.abort();
    const ends = await Promise.allSettled([...runs, ...cancelled]);
    expect(ends.slice(0, 8).map(codeOf)).toEqual(Array(8).fill('ok'));
    expect(new Set(ends.slice(8).map(codeOf))).toContain('cancelled');
    const deadline = performance.now() + HANG_MS;
    while (collected.size < 16 && performance.now() < deadline) {
      collectGarbage();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(collected.size).toBe(16);
  });
});
