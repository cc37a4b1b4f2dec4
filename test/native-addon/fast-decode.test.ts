import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildInfo } from '../../src/native/core.js';
import { openTestCore, ROOT, taskFor } from './open-test-core.js';

const DEMO = join(ROOT, 'models', 'demo');
const TIMES = 4;

let folder: string;
const street = JSON.parse(readFileSync(join(DEMO, 'street.json'), 'utf8')) as {
  width: number;
  height: number;
  boxes: { box: number[] }[];
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-fast-decode-'));
  await sharp(join(DEMO, 'street.jpg'))
    .resize(street.width * TIMES, street.height * TIMES)
    .jpeg({ quality: 92 })
    .toFile(join(folder, 'large.jpg'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function boxesAt(fastDecode: number): Promise<number[][]> {
  const model = join(ROOT, 'models', 'vehicles-v8n.onnx');
  const opened = await openTestCore({ roots: [folder], device: 'cpu', fastDecode }, model);
  try {
    const result = await opened.core.run(taskFor(opened.model, { path: 'large.jpg' }));
    expect(result).toMatchObject({ width: street.width * TIMES, height: street.height * TIMES });
    return Array.from({ length: result.boxes.length / 6 }, (_, i) =>
      Array.from(result.boxes.slice(6 * i, 6 * i + 6)),
    );
  } finally {
    await opened.core.close();
  }
}

describe('fast decode', () => {
  it('finds the same vehicles in pixels of the full image', async () => {
    const [full, reduced] = [await boxesAt(0), await boxesAt(1)];
    for (const { box } of street.boxes) {
      for (const found of [full, reduced]) {
        const near = found.some((row) =>
          box.every((side, i) => Math.abs(TIMES * side - row[i]!) <= 8 * TIMES),
        );
        expect(near, `a vehicle at ${box.join()}`).toBe(true);
      }
    }
    // The very same boxes would mean that nothing was reduced.
    if (buildInfo().jpeg === 'libvips') expect(reduced).toEqual(full);
    else expect(reduced).not.toEqual(full);
  });
});
