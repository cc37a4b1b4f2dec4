/**
 * A million boxes of 20 cameras with known truth: how long places and counts take over all of them in a service, its
 * memory and the size of its store, the fold in memory, and how right the answers are.
 *
 *   npm run bench:places -- [--boxes N] [--cameras N] [--pictures FOLDER]
 *
 * `--pictures`: draws the stills of the five scenes in which boxes are wrong.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SCENES, sequenceOf } from '../test/support/camera-stills.js';
import type { PlaceScores } from '../test/support/place-scores.js';
import { median } from './load/percentiles.js';
import { askService } from './places/ask-service.js';
import { boxesIn, camerasOf, type Camera } from './places/cameras.js';
import { drawWrong } from './places/draw-wrong.js';
import { fillStore } from './places/fill-store.js';
import { foldCamera } from './places/fold-cameras.js';
import { tableSizes } from './places/table-sizes.js';
import { isWrong, judge } from './places/wrong-boxes.js';
import { textTable, type Row } from './tables.js';

const TAG = 'bench';
const MIB = 2 ** 20;

const { values } = parseArgs({
  options: {
    boxes: { type: 'string', default: '1000000' },
    cameras: { type: 'string', default: '20' },
    pictures: { type: 'string' },
  },
});

const count = Number(values.cameras);
const cameras = camerasOf(count, Number(values.boxes) / count);
const pictures = cameras.reduce((sum, { sequence }) => sum + sequence.stills.length, 0);
const boxes = cameras.reduce((sum, { sequence }) => sum + boxesIn(sequence), 0);
console.log(`${count} cameras, ${pictures} pictures, ${boxes} boxes\n`);
await measureStore();
console.log(textTable(inMemory(cameras)), '\n');
await showWrong(values.pictures ?? null);

async function measureStore(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'lattice-places-'));
  try {
    const jobs = await fillStore(dataDir, cameras, TAG);
    const { asked, scores, moving } = await askService(dataDir, cameras, jobs, TAG);
    console.log(
      textTable(
        asked.map(({ path, ms, moreMib, besideMs, answer }) => ({
          'GET of the service': path,
          s: (ms / 1_000).toFixed(2),
          'us/picture': ((1_000 * ms) / pictures).toFixed(0),
          'MiB more': moreMib.toFixed(0),
          'short request, most ms': besideMs.toFixed(0),
          'answer KiB': (answer.length / 1_024).toFixed(0),
        })),
      ),
      '\n',
    );
    console.log(textTable(byScene(scores, moving)), '\n');
    const sizes = tableSizes(dataDir);
    console.log(textTable(sizes.tables), '\n');
    console.log(
      `jobs.db ${(sizes.bytes / MIB).toFixed(1)} MiB, ${(sizes.bytes / pictures).toFixed(0)} bytes a picture, ` +
        `${(sizes.bytes / boxes).toFixed(0)} a box\n`,
    );
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** How right results and counts of the service are: the worst camera of each scene. `moving`: by the counts. */
function byScene(scores: readonly PlaceScores[], moving: readonly number[]): Row[] {
  return SCENES.map((scene, at) => {
    const isOwn = (_: unknown, camera: number) => camera % SCENES.length === at;
    const own = scores.filter(isOwn);
    const counted = moving.filter(isOwn);
    const percent = (shares: readonly number[]) =>
      `${(100 * Math.max(...shares.map(Math.abs))).toFixed(1)} %`;
    const worst = (of: (one: PlaceScores) => number) => Math.min(...own.map(of)).toFixed(4);
    const sum = (of: (one: PlaceScores) => number) => own.reduce((all, one) => all + of(one), 0);
    return {
      scene: scene.name,
      cameras: String(own.length),
      boxes: String(sum((one) => one.boxes)),
      parked: String(sum((one) => one.parked)),
      'worst F1': worst((one) => one.f1),
      precision: worst((one) => one.precision),
      recall: worst((one) => one.recall),
      'result off': percent(own.map(({ countOff }) => countOff)),
      'counts off': percent(own.map((one, of) => counted[of]! / (one.boxes - one.parked) - 1)),
    };
  });
}

/** The fold alone, of the cameras of each scene. */
function inMemory(all: readonly Camera[]): Row[] {
  const folded = all.map((camera) => foldCamera(camera));
  return SCENES.map((scene, at) => {
    const own = folded.filter((_, camera) => camera % SCENES.length === at);
    const kib = (bytes: number) => (bytes / 1_024).toFixed(1);
    const most = (of: (one: (typeof own)[number]) => number) => Math.max(...own.map(of));
    const middle = (of: (one: (typeof own)[number]) => number) => median(own.map(of));
    const stays = own.reduce((sum, { scores }) => sum + scores.stays, 0);
    const right = own.reduce((sum, { scores }) => sum + scores.stays * scores.staysRight, 0);
    return {
      'fold in memory': scene.name,
      'us/picture': middle((one) => one.usPerPicture).toFixed(0),
      'state KiB, median': kib(middle((one) => one.stateBytes.median)),
      most: kib(most((one) => one.stateBytes.most)),
      'with an hour that waits, median': kib(middle((one) => one.waitingBytes.median)),
      'most ': kib(most((one) => one.waitingBytes.most)),
      'stays right': `${((100 * right) / stays).toFixed(1)} % of ${stays}`,
    };
  });
}

/** Counts the wrong boxes of the scenes as they are, and draws the worst stills. */
async function showWrong(folder: string | null): Promise<void> {
  const rows: Row[] = [];
  for (const [at, scene] of SCENES.entries()) {
    const sequence = sequenceOf(scene);
    const judged = judge(sequence, foldCamera({ folder: '', sequence }).placed);
    const wrong = new Map<string, number>();
    for (const verdict of judged.flatMap(({ verdicts }) => verdicts)) {
      if (verdict !== null && isWrong(verdict)) wrong.set(verdict, (wrong.get(verdict) ?? 0) + 1);
    }
    const texts = [...wrong].map(([verdict, times]) => `${verdict}: ${times}`);
    rows.push({ 'wrong boxes': scene.name, boxes: texts.join('; ') });
    if (folder === null) continue;
    const names = await drawWrong(folder, `scene-${at + 1}`, judged);
    rows.at(-1)!.pictures = String(names.length);
  }
  console.log(textTable(rows));
}
