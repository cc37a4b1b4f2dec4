import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCore, type Core } from '../../src/native/core.js';
import type { NativeInputSize, NativeModel } from '../../src/native/contract.js';
import { coreOptions, openTestCore, ROOT, taskFor } from './open-test-core.js';

const DEMO = join(ROOT, 'models', 'demo');
const MODEL = join(ROOT, 'models', 'vehicles-v8n.onnx');
const RECTANGLES = [
  { width: 640, height: 480 },
  { width: 480, height: 640 },
  { width: 640, height: 384 },
  { width: 640, height: 480 },
];

interface Known {
  width: number;
  boxes: { box: number[] }[];
}

let folder: string;
let square: { core: Core; model: NativeModel };
let rectangular: { core: Core; model: NativeModel };
let open: { core: Core; model: NativeModel };
const street = JSON.parse(readFileSync(join(DEMO, 'street.json'), 'utf8')) as Known;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-rectangles-'));
  const picture = () => sharp(join(DEMO, 'street.jpg'));
  await picture().toFile(join(folder, 'street.jpg'));
  await picture().resize(640, 640, { fit: 'fill' }).toFile(join(folder, 'square.jpg'));
  await picture()
    .extract({ left: 120, top: 0, width: 540, height: 720 })
    .toFile(join(folder, 'upright.jpg'));
  await picture()
    .extract({ left: 0, top: 180, width: 960, height: 540 })
    .toFile(join(folder, 'wide.jpg'));
  square = await openTestCore({ roots: [folder], device: 'cpu', rectangles: [] }, MODEL);
  open = await openTestCore({ roots: [folder], device: 'cpu' }, MODEL);
  rectangular = await openTestCore(
    { roots: [folder], device: 'cpu', rectangles: RECTANGLES },
    MODEL,
  );
});
afterAll(async () => {
  await square.core.close();
  await rectangular.core.close();
  await open.core.close();
  rmSync(folder, { recursive: true, force: true });
});

async function boxesOf(
  { core, model }: typeof square,
  path: string,
  kind: 'sync' | 'async' = 'sync',
) {
  const { boxes } = await core.run(taskFor(model, { path, kind }));
  return Array.from({ length: boxes.length / 6 }, (_, i) =>
    Array.from(boxes.slice(6 * i, 6 * i + 6)),
  );
}

describe('rectangles', () => {
  it('are told by the model, each once, the smallest first', () => {
    expect(rectangular.model).toMatchObject({
      inputWidth: 640,
      inputHeight: 640,
      rectangles: [
        { width: 640, height: 384 },
        { width: 640, height: 480 },
        { width: 480, height: 640 },
      ],
      without: [],
    });
    expect(square.model).toMatchObject({ rectangles: [] });
    const usual = [320, 384, 448, 480, 512, 544].flatMap((side) => [
      { width: 640, height: side },
      { width: side, height: 640 },
    ]);
    expect(open.model).toMatchObject({ rectangles: usual, without: [] });
  });

  it('find the vehicles where they are, in pixels of the photo', async () => {
    const found = await boxesOf(rectangular, 'street.jpg');
    for (const { box } of street.boxes) {
      const near = found.some((row) => box.every((side, i) => Math.abs(side - row[i]!) <= 8));
      expect(near, `a vehicle at ${box.join()}`).toBe(true);
    }
    expect(found).not.toEqual(await boxesOf(square, 'street.jpg'));
  });

  // Each shape takes another network; both cut photos keep all vehicles.
  it.each([
    ['wide.jpg', 0, 180],
    ['upright.jpg', 120, 0],
  ])('serve each shape of photo: %s', async (name, leftCut, topCut) => {
    const found = await boxesOf(rectangular, name);
    const cut = [leftCut, topCut, leftCut, topCut];
    for (const { box } of street.boxes) {
      const near = found.some((row) =>
        box.every((side, i) => Math.abs(side - cut[i]! - row[i]!) <= 12),
      );
      expect(near, `a vehicle at ${box.join()}`).toBe(true);
    }
    expect(found).not.toEqual(await boxesOf(square, name));
  });

  it('leave photos that fit none of them as they were, bit by bit', async () => {
    expect(await boxesOf(rectangular, 'square.jpg')).toEqual(await boxesOf(square, 'square.jpg'));
  });

  it('give the same boxes in both work classes, whatever else runs', async () => {
    const names = ['street.jpg', 'square.jpg', 'upright.jpg', 'wide.jpg'];
    const alone = new Map<string, number[][]>();
    for (const name of names) alone.set(name, await boxesOf(rectangular, name));
    const mixed = Array.from({ length: 24 }, (_, i) => names[(i * 7) % names.length]!);
    const found = await Promise.all(
      mixed.map((name, i) => boxesOf(rectangular, name, i % 3 === 0 ? 'sync' : 'async')),
    );
    for (const [i, name] of mixed.entries()) expect(found[i], name).toEqual(alone.get(name));
  });

  // 960 x 720 and 960 x 540 fill a listed one too; 960 x 250 has an input of its own in the usual ones.
  it('are the usual ones for an export with open sides, and the boxes do not depend on what came before', async () => {
    const names = ['street.jpg', 'square.jpg', 'upright.jpg', 'wide.jpg', 'odd.jpg'];
    await sharp(join(DEMO, 'street.jpg'))
      .extract({ left: 0, top: 300, width: 960, height: 250 })
      .toFile(join(folder, 'odd.jpg'));
    const alone = new Map<string, number[][]>();
    for (const name of names) alone.set(name, await boxesOf(open, name));
    expect(alone.get('street.jpg')).toEqual(await boxesOf(rectangular, 'street.jpg'));
    expect(alone.get('square.jpg')).not.toEqual([]);
    expect(alone.get('odd.jpg')).not.toEqual(await boxesOf(rectangular, 'odd.jpg'));
    for (const name of [...names].reverse()) {
      for (const kind of ['sync', 'async'] as const) {
        expect(await boxesOf(open, name, kind), name).toEqual(alone.get(name));
      }
    }
  });

  it('that a model cannot run at are left out with the reason', async () => {
    const { core, model } = await openTestCore({
      device: 'cpu',
      rectangles: [{ width: 640, height: 384 }],
    });
    expect(model.rectangles).toEqual([]);
    expect(model.without).toEqual([
      'The model cannot run at 640 x 384: its sides are fixed, and the end of the network is not one of those that are known.',
    ]);
    expect((await core.run(taskFor(model))).boxes.length).toBeGreaterThan(0);
    await core.close();
  });

  it.each([[{}], [[{ width: 640 }]], [[{ width: 0, height: 32 }]], [['640x384']]])(
    'refuses %j as rectangles',
    (wrong) => {
      const options = coreOptions({ rectangles: wrong as NativeInputSize[] });
      expect(() => openCore(options)).toThrow(TypeError);
    },
  );
});
