/** The examples of cluster/examples on a real Ray, as a user runs them. */
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rayPython } from '../../scripts/python-environment.mjs';
import { GCS_PORT, startRay, type Ray } from '../../scripts/ray.mjs';
import { runProgram } from '../../src/cli/python-environment.js';
import { hasTestdata, PROJECT_ROOT, SHARED_TESTDATA } from '../support/service-process.js';

const PHOTOS = 200;
const SHARD = 50;
const SOURCES = hasTestdata
  ? join(SHARED_TESTDATA, 'coco128/images')
  : join(PROJECT_ROOT, 'models/demo');

interface Line {
  image_path: string;
  status: string;
  detections?: unknown[];
}

const folder = mkdtempSync(join(tmpdir(), 'lattice-shards-'));
const photos = join(folder, 'photos');
const boxes = join(folder, 'boxes');
let ray: Ray;
let python: string;

beforeAll(async () => {
  fillPhotos();
  python = await rayPython();
  ray = await startRay({ python, nodes: [{ cpus: 2 }] });
});

afterAll(async () => {
  await ray.stop();
  rmSync(folder, { recursive: true });
});

/** PHOTOS files of the few that are there: NUMBER-NAME. */
function fillPhotos(): void {
  mkdirSync(photos);
  const names = readdirSync(SOURCES).filter((name) => /\.(jpg|png)$/.test(name));
  for (let number = 0; number < PHOTOS; number += 1) {
    const name = names[number % names.length]!;
    const [from, to] = [join(SOURCES, name), join(photos, `${number}-${name}`)];
    try {
      linkSync(from, to);
    } catch {
      copyFileSync(from, to); // on another file system
    }
  }
}

async function detectShards(): Promise<string> {
  const script = join(PROJECT_ROOT, 'cluster/examples/detect_shards.py');
  const lattice = join(PROJECT_ROOT, 'dist/cli/lattice.js');
  // Said: which precision is the fastest is measured by each process, and boxes differ with it.
  const command = `${process.execPath} ${lattice} detect --precision int8`;
  const sizes = ['--shard-size', String(SHARD), '--cpus', '1'];
  const where = ['--address', `127.0.0.1:${GCS_PORT}`, '--command', command];
  return runProgram(python, [script, photos, boxes, ...sizes, ...where]);
}

const linesOf = (file: string) =>
  readFileSync(join(boxes, file), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

test('detect_shards.py: each photo has one line of boxes, and a second run does what is missing', async () => {
  expect(await detectShards()).toContain(`${PHOTOS} photos in 4 shards, 4 of them to do`);
  const files = readdirSync(boxes).sort();
  expect(files.map(extname)).toEqual(['.ndjson', '.ndjson', '.ndjson', '.ndjson']);
  const lines = files.flatMap(linesOf);
  expect(lines.map(({ image_path: path }) => path)).toEqual(
    readdirSync(photos)
      .sort()
      .map((name) => join(photos, name)),
  );
  expect(lines.filter(({ status }) => status !== 'ok')).toEqual([]);
  // A copy has the boxes of every other copy, in whatever shard it lies.
  const known = new Map<string, unknown>();
  for (const { image_path: path, detections } of lines) {
    const source = basename(path).replace(/^\d+-/, '');
    if (!known.has(source)) known.set(source, detections);
    expect(detections).toEqual(known.get(source));
  }
  expect([...known.values()].some((found) => (found as unknown[]).length > 0)).toBe(true);

  rmSync(join(boxes, files[1]!));
  expect(await detectShards()).toContain(`${PHOTOS} photos in 4 shards, 1 of them to do`);
  expect(readdirSync(boxes).sort()).toEqual(files);
  expect(await detectShards()).toContain('0 of them to do');
});
