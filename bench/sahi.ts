/**
 * Pictures in tiles per second: this core, in f32 and in 8 bits, against SAHI with the same network in f32, on the same
 * photos in tiles of 640 pixels and as whole pictures. Short bursts that take turns; the ratio is the median of the
 * rounds.
 *
 *   npm run bench:sahi        (bench/peers/README.md says how the peer is installed)
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openCore } from '../src/native/core.js';
import { TESTDATA } from './accuracy/expected.js';
import { median } from './load/percentiles.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PYTHON = join(ROOT, '.deps', 'peers', 'bin', 'python');
const MODEL = join(ROOT, 'models', 'vehicles-v8n.onnx');
const SIZE = 640;
const ROUNDS = 8;
const PICTURES = 3;
/** A photo with the shape of a tile. */
const SQUARE = 'traffic-640x640.jpg';
const PHOTOS = [
  'cars-1920x1278-progressive',
  'license-plate-1920x1280-progressive',
  'truck-1800x1200',
]
  .map((name) => join(TESTDATA, 'images', `${name}.jpg`))
  .filter((photo) => existsSync(photo));

if (!existsSync(PYTHON) || PHOTOS.length === 0) {
  console.log('left out: the peers or the photos are not there (bench/peers/README.md)');
  process.exit(0);
}
const peer = spawn(
  PYTHON,
  [join(ROOT, 'bench', 'peers', 'sahi', 'bursts.py'), MODEL, String(SIZE), ...PHOTOS],
  { stdio: ['pipe', 'pipe', 'inherit'] },
);
const lines = createInterface({ input: peer.stdout })[Symbol.asyncIterator]();
await lines.next();

const core = openCore({
  roots: [join(TESTDATA, 'images')],
  device: 'cpu',
  threads: 2,
  maxFileBytes: 1e9,
  maxPixels: 1e9,
  maxSide: 1e5,
});
const exact = await core.loadModel(MODEL);
const fast = await core.loadModel(MODEL, {
  eightBitPath: MODEL.replace('.onnx', '.int8.onnx'),
});
let next = 0;

/** Seconds. */
async function ours(modelId: number, tiled: boolean, pictures: number): Promise<number> {
  const began = performance.now();
  const runs = Array.from({ length: pictures }, () => {
    const path = tiled ? basename(PHOTOS[next++ % PHOTOS.length] ?? '') : SQUARE;
    const task = {
      path,
      modelId,
      kind: 'async',
      priority: 0,
      deadlineMs: 0,
      classIds: null,
    } as const;
    const tiles = tiled ? ({ size: SIZE, overlap: 0.2 } as const) : ('off' as const);
    return core.run({ ...task, confidence: 0.25, iou: 0.7, maxDetections: 300, tiles });
  });
  await Promise.all(runs);
  return (performance.now() - began) / 1e3;
}

async function theirs(pictures: number): Promise<number> {
  peer.stdin.write(`${pictures}\n`);
  return Number((await lines.next()).value);
}

const rounds: { sahi: number; f32: number; int8: number; whole: number }[] = [];
for (let round = -1; round < ROUNDS; round += 1) {
  const figures = {
    sahi: await theirs(PICTURES),
    f32: await ours(exact.modelId, true, PICTURES),
    int8: await ours(fast.modelId, true, PICTURES),
    // As many images of the network: 13 parts per picture of 1920 x 1280.
    whole: await ours(exact.modelId, false, 13 * PICTURES),
  };
  if (round >= 0) rounds.push(figures);
}
const ratio = (of: (figures: (typeof rounds)[number]) => number) =>
  median(rounds.map(of)).toFixed(2);
console.log(`pictures per second, SAHI: ${ratio(({ sahi }) => PICTURES / sahi)}`);
console.log(
  `ours in f32: ${ratio(({ f32 }) => PICTURES / f32)}, ${ratio(({ sahi, f32 }) => sahi / f32)} times`,
);
console.log(
  `ours in 8 bits: ${ratio(({ int8 }) => PICTURES / int8)}, ${ratio(({ sahi, int8 }) => sahi / int8)} times`,
);
console.log(
  `time of a picture in 12 tiles / of 13 photos of a tile's shape: ${ratio(({ f32, whole }) => f32 / whole)}`,
);
peer.stdin.end();
await core.close();
