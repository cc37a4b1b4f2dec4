/** `lattice detect` through the real addon, in this process and as a process of its own. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { run } from './run.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PICTURE = join(ROOT, 'models', 'demo', 'shapes.png');
/** The bundled model, whatever lies in the user's folder. */
const MODEL = ['--model', 'tiny-v8', '--precision', 'f32'];

interface Line {
  image_path: string;
  status: string;
  detections?: { box: number[]; class: string; confidence: number }[];
  total_count?: number;
  car_count?: number;
  annotated_path?: string;
  error?: { code: string; detail: string };
}

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'lattice-detect-')));
  mkdirSync(join(folder, 'sub'));
  copyFileSync(PICTURE, join(folder, 'one.png'));
  copyFileSync(PICTURE, join(folder, 'sub', 'one.png'));
  writeFileSync(join(folder, 'broken.jpg'), 'not an image');
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

async function detectJson(...args: string[]) {
  const { out, err, code } = await run('detect', ...args, ...MODEL, '--json');
  const lines = out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
  return { lines, err, code };
}

test('the table shows image, class, confidence and box, and what ran', async () => {
  const { out, err, code } = await run('detect', PICTURE, ...MODEL);
  expect({ err, code }).toEqual({ err: '', code: 0 });
  const lines = out.trimEnd().split('\n');
  expect(lines[0]).toMatch(/^IMAGE +CLASS +CONFIDENCE +BOX/);
  expect(lines[1]).toMatch(/shapes\.png +\w+ +0\.\d{3} +[\d.]+ {2}[\d.]+ {2}[\d.]+ {2}[\d.]+$/);
  expect(lines.at(-2)).toMatch(/^total: car 3, \w+ \d/);
  expect(lines.at(-1)).toMatch(
    /^1 done, 0 failed; 6 box\(es\), .* images\/s; tiny-v8\.pt on cpu, f32$/,
  );
});

test('a name cannot act on the terminal; in JSON and files it is what it is', async () => {
  const name = 'a\nb\u001b[2J\u202e.png';
  const odd = join(folder, 'odd');
  mkdirSync(odd);
  for (const each of [name, `gone ${name}`]) copyFileSync(PICTURE, join(odd, each));
  writeFileSync(join(odd, `gone ${name}`), '');
  const printed = await run('detect', odd, ...MODEL);
  expect(printed.out + printed.err).not.toMatch(/\p{Cc}(?<!\n)|\u202e/u);
  const shown = String.raw`a\nb\u001b[2J\u202e.png`;
  for (const line of [`odd/${shown} `, `odd/gone ${shown}: `]) expect(printed.out).toContain(line);
  const { lines } = await detectJson(odd);
  expect(lines.map((line) => line.image_path)).toEqual([
    join(odd, name),
    join(odd, `gone ${name}`),
  ]);
  rmSync(odd, { recursive: true });
});

test('one line of JSON per image, in order; a bad image fails alone with exit code 3', async () => {
  writeFileSync(join(folder, 'photo.HEIC'), '');
  const { lines, err, code } = await detectJson(folder, join(folder, 'gone.jpg'));
  expect(err).toBe('4 images; left out: 1 .heic.\n');
  expect(code).toBe(3);
  expect(lines.map(({ status, error }) => error?.code ?? status)).toEqual([
    'unsupported_image_format',
    'ok',
    'ok',
    'image_not_found',
  ]);
  expect(lines.map(({ image_path }) => image_path)).toEqual(
    ['broken.jpg', 'one.png', 'sub/one.png', 'gone.jpg'].map((name) => join(folder, name)),
  );
  expect(lines[1]).toMatchObject({ total_count: 6, car_count: 3 });
  expect(lines[2]!.detections).toEqual(lines[1]!.detections);
});

test('classes, confidence and max-detections narrow the boxes down', async () => {
  const all = (await detectJson(PICTURE)).lines[0]!.detections!;
  const cars = (await detectJson(PICTURE, '--classes', 'CAR, bus')).lines[0]!.detections!;
  expect(cars).toEqual(all.filter(({ class: name }) => ['car', 'bus'].includes(name)));
  const sure = (await detectJson(PICTURE, '--confidence', '0.9')).lines[0]!.detections!;
  expect(sure).toEqual(all.filter(({ confidence }) => confidence > 0.9));
  expect(sure.length).toBeGreaterThan(0);
  const two = (await detectJson(PICTURE, '--max-detections', '2')).lines[0]!.detections!;
  expect(two).toEqual(all.slice(0, 2));
});

test('regions name their boxes, masks leave theirs out; wrong ones are told before the first image', async () => {
  const left = { name: 'left', polygon: [[0, 0], [0.5, 0], [0.5, 1], [0, 1]], classes: ['CAR'] }; // prettier-ignore
  const top = { name: 'top', polygon: [[0, 0], [1, 0], [1, 0.4], [0, 0.4]], ignore: true }; // prettier-ignore
  const file = join(folder, 'regions.json');
  writeFileSync(file, JSON.stringify([left, top]));
  const all = (await detectJson(PICTURE)).lines[0]!.detections!;
  const [line] = (await detectJson(PICTURE, '--regions', file)).lines;
  const isLeft = ({ box: [x1 = 0, , x2 = 0] }: { box: number[] }) => x1 + x2 < 640;
  const below = all.filter(({ box: [, , , bottom = 0] }) => bottom >= 0.4 * 480);
  expect(below.length).toBeLessThan(all.length);
  expect(line).toMatchObject({
    detections: below.map((each) => ({
      ...each,
      regions: isLeft(each) && each.class === 'car' ? ['left'] : [],
    })),
    region_counts: { left: { car: below.filter((b) => isLeft(b) && b.class === 'car').length } },
  });
  const refused = async (...flags: string[]) => {
    const { out, err, code } = await run('detect', PICTURE, ...MODEL, ...flags);
    expect([out, code]).toEqual(['', 2]);
    return err;
  };
  const line2 = { ...left, polygon: [[0, 0], [0.5, 0.5], [1, 1]] }; // prettier-ignore
  expect(await refused('--regions', JSON.stringify([line2]))).toMatch(
    /--regions: 0\.polygon\. The polygon encloses no area/,
  );
  expect(await refused('--regions', JSON.stringify([{ ...left, classes: ['tram'] }]))).toMatch(
    /has no class 'tram'/,
  );
  expect(await refused('--view', 'north')).toMatch(/views are stored in a service/);
});

test('save writes a drawn copy of each image under its own name', async () => {
  const drawn = join(folder, 'drawn');
  const { lines, code } = await detectJson(
    join(folder, 'one.png'),
    join(folder, 'sub'),
    '--save',
    drawn,
  );
  expect(code).toBe(0);
  expect(readdirSync(drawn).sort()).toEqual(['one-2.jpg', 'one.jpg']);
  expect(new Set(lines.map(({ annotated_path }) => annotated_path)).size).toBe(2);
  const before = await sharp(PICTURE).removeAlpha().raw().toBuffer();
  const after = await sharp(lines[0]!.annotated_path).raw().toBuffer({ resolveWithObject: true });
  expect(after.info).toMatchObject({ width: 640, height: 480 });
  expect(before.equals(after.data)).toBe(false);
});

test('save with cover writes copies whose boxes are covered', async () => {
  const [one, saved] = [join(folder, 'one.png'), join(folder, 'covered')];
  const { lines, code } = await detectJson(one, '--save', saved, '--cover', '*', '--cover-with', 'fill'); // prettier-ignore
  expect(code).toBe(0);
  const { detections, annotated_path: path } = lines[0]!;
  const [left, top, right, bottom] = detections![0]!.box as [number, number, number, number];
  const middle = { left: Math.round((left + right) / 2), top: Math.round((top + bottom) / 2) };
  const pixel = await sharp(path)
    .extract({ ...middle, width: 1, height: 1 })
    .raw()
    .toBuffer();
  expect(Math.max(...pixel)).toBeLessThan(5);
  for (const [flags, reason] of [
    [['--cover', 'car'], /--save/],
    [['--save', saved, '--cover', 'submarine'], /no class 'submarine'/],
    [['--save', saved, '--cover', 'bus', '--classes', 'car'], /'bus' were not asked for/],
  ] as const) {
    const refused = await run('detect', one, ...MODEL, ...flags);
    expect(refused.code).toBe(2);
    expect(refused.err).toMatch(reason);
  }
});

test.each([
  [['--model', 'yolov99x.pt'], /no model 'yolov99x\.pt'.*vehicles-v8n\.pt/],
  [['--classes', 'car,submarine'], /no class 'submarine'.*car/],
])('%j is a usage error that names what there is', async (args, reason) => {
  const { code, err, out } = await run('detect', PICTURE, ...MODEL, ...args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(reason);
});

test('a folder that cannot be made ends the run before it begins', async () => {
  const file = join(folder, 'broken.jpg');
  const { code, err, out } = await run('detect', PICTURE, ...MODEL, '--save', join(file, 'x'));
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toBe(
    `lattice: ${join(file, 'x')} or what is above it is a file; a folder is needed.\n`,
  );
});

test('Ctrl-C keeps what is done', async () => {
  const many = join(folder, 'many');
  mkdirSync(many);
  for (let each = 0; each < 400; each += 1) copyFileSync(PICTURE, join(many, `${each}.png`));
  const file = join(folder, 'many.ndjson');
  const flags = ['--format', 'ndjson', '-o', file, ...MODEL];
  const child = spawn(process.execPath, ['dist/cli/lattice.js', 'detect', many, ...flags], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const exited = once(child, 'exit');
  await eventually(() => {
    expect(statSync(`${file}.part-${child.pid}`).size).toBeGreaterThan(0);
  });
  child.kill('SIGINT');
  expect(await exited).toEqual([130, null]);
  const written = readFileSync(file, 'utf8').trimEnd().split('\n').length;
  expect(written).toBeLessThan(400);
  expect(err).toMatch(new RegExp(`^Stopped: ${400 - written} of 400 images are left\\.$`, 'm'));
});

test('as a process: NDJSON on standard output alone, the exit code tells, a closed pipe is no error', () => {
  const cli = (command: string) =>
    spawnSync('sh', ['-c', command], { cwd: ROOT, encoding: 'utf8' });
  const lattice = `${process.execPath} dist/cli/lattice.js`;
  const good = cli(`${lattice} detect models/demo/shapes.png --json ${MODEL.join(' ')}`);
  expect(good).toMatchObject({ status: 0, stderr: '' });
  expect(JSON.parse(good.stdout)).toMatchObject({ image_path: 'models/demo/shapes.png' });
  expect(cli(`${lattice} detect ${join(folder, 'broken.jpg')} ${MODEL.join(' ')}`).status).toBe(1);
  const piped = cli(`${lattice} openapi | head -c 1`);
  expect(piped).toMatchObject({ stdout: '{', stderr: '' });
});
