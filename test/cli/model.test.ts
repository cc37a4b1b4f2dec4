/** `lattice model` through the real addon, on folders of its own. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/base/package.js';
import { bf16Features } from '../../src/execution/here/compute-choice.js';
import { writeBareModel } from '../support/bare-model.js';
import { detrFile } from '../support/detr-model.js';
import { CELLS, centreAndSize, layoutNetwork, placeOf } from '../support/layout-models.js';
import { bytesOf, onnxFile } from '../support/onnx-file.js';
import { run } from './run.js';

const COCO_LIKE = ['person', 'bicycle', 'car', 'dog', 'kite'];
const TINY = join(PACKAGE_ROOT, 'models', 'tiny', 'tiny-v8.onnx');

let folder: string;
let models: string;
let where: string[];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'lattice-models-')));
  models = join(folder, 'models');
  where = ['--models-dir', models];
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const listed = async () =>
  JSON.parse((await run('model', 'list', '--json', ...where)).out) as Record<string, unknown>[];

test('a file is checked, installed under its name, listed and removed', async () => {
  const file = join(folder, 'depot.onnx');
  copyFileSync(TINY, file);
  const added = await run('model', 'add', file, ...where);
  expect(added.code).toBe(0);
  expect(added.out).toMatch(/classes +4: car, motorcycle, bus, truck/);
  expect(added.out).toMatch(/input +640 x 640, any batch/);
  expect(added.out).not.toContain('on a GPU');
  expect(added.out).toMatch(/f32 +[\d.]+ ms an image, [1-9]\d* boxes on 3 demo pictures/);
  expect(added.out).toMatch(/boxes +car 3, /);
  expect(added.err).toMatch(
    /^Reading the demo pictures \.\.\.\nCompiling depot\.onnx for f32 \.\.\.\nRunning it on 3 picture/,
  );
  expect(added.out).toContain('"model_name": "depot.pt".');
  expect(readdirSync(models)).toEqual(['depot.onnx']);
  expect(await listed()).toContainEqual(
    expect.objectContaining({
      name: 'depot.pt',
      bundled: false,
      is_default: false,
      classes: ['car', 'motorcycle', 'bus', 'truck'],
    }),
  );
  const [, next = ''] = /^ {2}lattice (detect .*)$/m.exec(added.out) ?? [];
  expect(next).toMatch(/^detect --model depot \S+street\.jpg --models-dir /);
  expect(await run(...next.split(' '))).toMatchObject({ code: 0 });
  // Vehicles are all that it finds.
  expect(added.out).toContain('-F model_name=depot.pt -F image=@');
  expect(added.out).toContain('  lattice job submit --model depot street.jpg ');
  const removed = await run('model', 'remove', 'depot', ...where);
  expect(removed).toMatchObject({ code: 0, err: '' });
  expect(readdirSync(models)).toEqual([]);
});

test('a file of the default name becomes the default model', async () => {
  const added = await run('model', 'add', TINY, '--name', 'yolov8n', ...where);
  expect(added.out).toContain('"model_name": "yolov8n.pt", the default model.');
  const [first] = await listed();
  expect(first).toMatchObject({ name: 'yolov8n.pt', bundled: false, is_default: true });
});

test('an export without metadata takes its class names and input size from the options', async () => {
  const file = join(folder, 'bare.onnx');
  writeBareModel(TINY, file);
  expect(await run('model', 'check', file, ...where)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/bare\.onnx cannot be used: .*`lattice model add --names`/),
  });
  const names = join(folder, 'names.txt');
  writeFileSync(names, "auto\nmoto's\nbus\ncamión\n");
  const options = ['--names', names, '--input', '640', ...where];
  const checked = await run('model', 'check', file, ...options);
  expect(checked.out).toContain("4: auto, moto's, bus, camión");
  expect(checked.out).toMatch(/boxes +auto 3, /);
  expect(checked.out).toContain(`  lattice model add ${file} --names ${names} --input 640x640`);
  expect(await run('model', 'add', file, ...options)).toMatchObject({ code: 0 });
  expect(await listed()).toContainEqual(
    expect.objectContaining({ name: 'bare.pt', classes: ['auto', "moto's", 'bus', 'camión'] }),
  );
});

test.each([
  [['--names', 'a,,b'], 2, /name 2 of a,,b is empty/],
  [['--names', 'none.txt'], 2, /none\.txt/],
  // The model is refused.
  [['--names', 'a,b'], 1, /outputs are .*4 \+ 2 classes/],
  [['--names', 'a,b,c,d', '--input', '33'], 2, /bare\.onnx are fixed at 640 x 640/],
  [['--input', 'wide'], 2, /like 640 or 640x384/],
])('the options %j are refused with %i and the reason', async (options, code, message) => {
  const file = join(folder, 'bare.onnx');
  writeBareModel(TINY, file);
  const refused = await run('model', 'add', file, ...options, ...where);
  expect(refused.code).toBe(code);
  expect(refused.err).toMatch(message);
  expect(existsSync(join(models, 'bare.onnx'))).toBe(false);
});

test('weights in a file beside are read, and are installed inside the model', async () => {
  const network = layoutNetwork({
    names: COCO_LIKE,
    rows: 4 + COCO_LIKE.length,
    columns: CELLS,
    at: (row, anchor) => (row < 4 ? centreAndSize(anchor, row) : placeOf(anchor).score),
  });
  const [nothing, table] = network.tensors;
  if (nothing === undefined || table === undefined) throw new Error('The network has two tensors.');
  const beside = { location: 'best.onnx.data', offset: 8 };
  const file = join(folder, 'best.onnx');
  writeFileSync(file, onnxFile({ ...network, tensors: [nothing, { ...table, beside }] }));
  const data = join(folder, beside.location);
  expect(await run('model', 'add', file, ...where)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/'best\.onnx\.data', which is missing: put it into the folder/),
  });
  writeFileSync(data, 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n');
  expect((await run('model', 'check', file)).err).toContain("best.onnx.data', which is a Git LFS");
  writeFileSync(data, Buffer.concat([Buffer.alloc(8), bytesOf(table)]));
  const added = await run('model', 'add', file, '--name', 'depot', '--threshold', '0.3', ...where);
  expect(added).toMatchObject({ code: 0, out: expect.stringContaining('depot.onnx') });
  expect(readdirSync(models)).toEqual(['depot.onnx']);
  rmSync(data);
  const checked = await run('model', 'check', 'depot', '--json', ...where);
  expect(checked.code).toBe(0);
  expect((JSON.parse(checked.out) as { bytes: number }).bytes).toBeGreaterThan(
    table.values.byteLength,
  );

  const onGpus = expect.stringMatching(
    /^It runs batches of 1 only, .*ReduceMax.* dynamic=True/,
  ) as string;
  expect(JSON.parse(checked.out)).toMatchObject({ fixed_batch: 1, gpu_limits: [onGpus] });
  expect(added.out).toMatch(
    /input +640 x 640, exported for batches of 1\n *on a GPU +It runs batches/,
  );

  // Its default classes would hide most of what it finds.
  expect(added.out).toContain("-F model_name=depot.pt -F 'classes=*' -F image=@");
  expect(added.out).toContain("  lattice job submit --model depot --classes '*' ");
});

test('a pointer of Git LFS is called by its name', async () => {
  const file = join(folder, 'best.onnx');
  writeFileSync(file, 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n');
  expect(await run('model', 'add', file, ...where)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/best\.onnx cannot be used: .*Git LFS pointer.*git lfs pull/),
  });
});

test('a name that is taken is replaced only by force', async () => {
  await run('model', 'add', TINY, '--name', 'depot', ...where);
  const again = await run('model', 'add', TINY, '--name', 'depot', ...where);
  expect(again.code).toBe(1);
  expect(again.err).toContain('depot.onnx exists. --force replaces it');
  expect(await run('model', 'add', TINY, '--name', 'depot', '--force', ...where)).toMatchObject({
    code: 0,
  });
});

test('what the service could not run is not installed', async () => {
  const damaged = join(folder, 'damaged.onnx');
  writeFileSync(damaged, 'no network');
  const checkpoint = join(folder, 'best.pt');
  writeFileSync(checkpoint, 'weights');
  for (const [args, code, reason] of [
    [[damaged], 1, /damaged\.onnx cannot be used: .*ONNX/],
    [[join(folder, 'none.onnx')], 2, /There is no file/],
    [[TINY, '--name', '../up'], 2, /'\.\.\/up' is no model name/],
    [[join(PACKAGE_ROOT, 'package.json')], 2, /must end in \.onnx/],
    [
      [checkpoint],
      2,
      /yolo export model=.*best\.pt format=onnx dynamic=True[^]*lattice model add .*best\.onnx/,
    ],
  ] as const) {
    const added = await run('model', 'add', ...args, ...where);
    expect(added).toMatchObject({ code, err: expect.stringMatching(reason) });
  }
  expect(existsSync(models)).toBe(false);
});

test('a model is run on pictures of your own', async () => {
  const photos = join(folder, 'photos');
  mkdirSync(photos);
  copyFileSync(join(PACKAGE_ROOT, 'models', 'demo', 'shapes.png'), join(photos, 'own.png'));
  const { out, code } = await run('model', 'check', TINY, '--images', photos);
  expect(code).toBe(0);
  expect(out).toMatch(/f32 +[\d.]+ ms an image, 6 boxes on 1 picture$/m);
  expect(out).toContain(`  lattice model add ${TINY}`);
  writeFileSync(join(photos, 'broken.jpg'), 'text');
  for (const [images, reason] of [
    [photos, /broken\.jpg is no picture, is damaged/],
    [join(folder, 'none'), /There is no file or folder .*none\./],
    [models, /There is no file or folder .*models\./],
  ] as const) {
    const failed = await run('model', 'check', TINY, '--images', images);
    expect(failed).toMatchObject({ code: 2, err: expect.stringMatching(reason) });
  }
});

test('a check writes the model in the layout that engines read', async () => {
  const network = join(folder, 'detr.onnx');
  writeFileSync(
    network,
    detrFile({ boxes: [{ place: [0.5, 0.25, 0.5, 0.25], scores: [0.9, 0.1] }] }),
  );
  const saved = join(folder, 'saved.onnx');
  const checked = await run('model', 'check', network, '--save', saved, ...where);
  expect(checked.code).toBe(0);
  const again = await run('model', 'check', saved, '--json', ...where);
  expect(again.code).toBe(0);
  const boxes = (out: string) =>
    (JSON.parse(out) as { runs: { boxes: number[] }[] }).runs[0]?.boxes;
  const first = await run('model', 'check', network, '--json', ...where);
  expect(boxes(again.out)).toEqual(boxes(first.out));
  expect(readFileSync(saved).includes('lattice.stretched')).toBe(true);
});

test('bundled models can be checked by name and stay', async () => {
  const checked = await run('model', 'check', 'tiny-v8', '--json', ...where);
  expect(checked.code).toBe(0);
  const report = JSON.parse(checked.out) as { runs: { precision: string }[] };
  expect(report).toMatchObject({
    classes: ['car', 'motorcycle', 'bus', 'truck'],
    input: { width: 640, height: 640 },
  });
  // In the order of the names: crossing.jpg, shapes.png, street.jpg.
  expect(report.runs[0]).toMatchObject({ precision: 'f32', boxes: [0, 6, 0] });
  // Whichever of them `auto` would take here.
  const precisions = bf16Features().length > 0 ? ['f32', 'bf16'] : ['f32'];
  expect(report.runs.map(({ precision }) => precision)).toEqual(precisions);
  const removed = await run('model', 'remove', 'tiny-v8', ...where);
  expect(removed.code).toBe(1);
  expect(removed.err).toContain('is bundled and stays');
});

test('a name that is not there is answered with those that are', async () => {
  const { code, err } = await run('model', 'remove', 'none', ...where);
  expect(code).toBe(1);
  expect(err).toMatch(/no model 'none\.pt'.*Available: .*vehicles-v8n\.pt/);
});
