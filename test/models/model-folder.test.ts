import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PACKAGE_ROOT } from '../../src/base/package.js';
import { ModelFolder } from '../../src/models/model-folder.js';

const bundledDir = join(PACKAGE_ROOT, 'models');
let modelsDir: string;
beforeEach(() => {
  modelsDir = mkdtempSync(join(tmpdir(), 'lattice-models-'));
});
afterEach(() => {
  rmSync(modelsDir, { recursive: true });
});

const openFolder = (modelFamily = 'yolo') =>
  ModelFolder.open({ modelsDir, modelFamily }, bundledDir);

describe('model names', () => {
  it('stand for the bundled model when the user has no file', async () => {
    const folder = await openFolder();
    for (const name of ['yolov8n.pt', 'vehicles-v8n.pt']) {
      expect(await folder.find(name)).toMatchObject({
        name,
        bundled: true,
        path: join(bundledDir, 'vehicles-v8n.onnx'),
      });
    }
  });

  it("stand for the user's own file first, also one put there later", async () => {
    const folder = await openFolder();
    copyFileSync(join(bundledDir, 'tiny/tiny-v8.onnx'), join(modelsDir, 'yolov8n.onnx'));
    expect(await folder.find('yolov8n.pt')).toMatchObject({
      bundled: false,
      path: join(modelsDir, 'yolov8n.onnx'),
    });
  });

  it('of tests can be named and stand in no list', async () => {
    const folder = await openFolder();
    expect(await folder.find('tiny-v8.pt')).toMatchObject({ bundled: true });
    expect((await folder.list()).map(({ name }) => name)).not.toContain('tiny-v8.pt');
  });

  it('are listed with the default first', async () => {
    writeFileSync(join(modelsDir, 'a.onnx'), '');
    writeFileSync(join(modelsDir, 'not a name.onnx'), '');
    writeFileSync(join(modelsDir, 'a.txt'), '');
    const names = (await (await openFolder()).list()).map((file) => file.name);
    expect(names).toEqual(['yolov8n.pt', 'a.pt', 'vehicles-v8n.pt']);
  });

  it('have no second one for the 8-bit copy of a model', async () => {
    for (const name of ['a.onnx', 'a.int8.onnx', 'alone.int8.onnx']) {
      writeFileSync(join(modelsDir, name), '');
    }
    const names = (await (await openFolder()).list()).map((file) => file.name);
    expect(names).toEqual([...['yolov8n.pt', 'a.pt', 'alone.int8.pt', 'vehicles-v8n.pt']]);
  });

  it.each([
    'missing.pt',
    'yolov8n',
    'yolov8n.onnx',
    '../yolov8n.pt',
    'tiny/tiny-v8.pt',
    '/etc/passwd',
    'a\0.pt',
    '',
    '...pt',
    `${'a'.repeat(5000)}.pt`,
  ])('that are unknown are answered with what there is: %j', async (name) => {
    const found = openFolder().then((folder) => folder.find(name));
    await expect(found).rejects.toMatchObject({
      code: 'unknown_model',
      message: expect.stringContaining('Available: yolov8n.pt, vehicles-v8n.pt.'),
    });
  });

  it('are none without any folder', async () => {
    const none = join(modelsDir, 'none');
    const folder = await ModelFolder.open({ modelsDir: none, modelFamily: 'yolo' }, none);
    expect(await folder.list()).toEqual([]);
    await expect(folder.find('yolov8n.pt')).rejects.toThrow('No model is installed.');
  });
});
