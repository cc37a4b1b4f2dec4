/** A running service whose requests name aliases: canary, shadow, promotion, and what a job and a restart keep. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Agreement, Alias, AliasList, ModelList } from '../../src/client/records.js';
import { eventual, eventually } from '../support/eventually.js';
import { submitMany } from '../support/model-swaps.js';
import { OWN_CLASSES, ownModel } from '../support/own-model.js';
import { call, detect, post, resultOf, statusOf, submit } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';

/** They outlast a promotion and the kill of the service. */
const IMAGES = 150;
const OTHER_CLASSES = ['auto', 'moto', 'coach', 'truck'];

let scratch: string;
let service: ServiceProcess;

const start = (env: Record<string, string> = {}) =>
  startService({
    dataDir: join(scratch, 'data'),
    env: {
      ...env,
      LATTICE_MODELS_DIR: join(scratch, 'models'),
      LATTICE_PRECISION: 'f32',
      LATTICE_LOG_LEVEL: 'info',
    },
  });

/** The service is started by the test. */
function make() {
  scratch = mkdtempSync(join(tmpdir(), 'lattice-aliases-'));
  const folder = join(scratch, 'models');
  mkdirSync(folder);
  writeFileSync(join(folder, 'first.onnx'), ownModel(OWN_CLASSES));
  writeFileSync(join(folder, 'same.onnx'), ownModel(OWN_CLASSES));
  writeFileSync(join(folder, 'other.onnx'), ownModel(OTHER_CLASSES));
}
async function remove() {
  await service[Symbol.asyncDispose]();
  rmSync(scratch, { recursive: true, force: true });
}

const at = (path = '') => `/v1/models/aliases${path}`;
const send = async (method: string, path: string, body?: object, more = {}) => {
  const json = { 'content-type': 'application/json', ...more };
  const init =
    body === undefined ? { method } : { method, body: JSON.stringify(body), headers: json };
  const answer = await call(service.url, at(path), init);
  return { ...answer, alias: answer.body as unknown as Alias };
};
const put = (name: string, body: object, headers = {}) => send('PUT', `/${name}`, body, headers);
const agreement = async (name: string) =>
  (await send('GET', `/${name}/agreement`)).body as unknown as Agreement;

async function answerOf(modelName: string, path = 'shapes.png') {
  const { status, body } = await detect(service.url, {
    model_name: modelName,
    image_path: path,
    classes: ['*'],
  });
  expect(status).toBe(200);
  return body as unknown as { model: string; detections: { class: string }[] };
}

describe('on one service', () => {
  beforeAll(async () => {
    make();
    service = await start();
  });
  afterAll(remove);

  test('the default name may stand for another model, and for the file of its own name beside a shadow', async () => {
    await put('yolov8n', { model: 'other' });
    expect((await answerOf('yolov8n')).model).toBe('other.pt');
    const { models } = (await call(service.url, '/v1/models')).body as unknown as ModelList;
    expect(models[0]).toMatchObject({ name: 'yolov8n.pt', is_default: true, alias_of: 'other.pt' });
    await put('yolov8n', { model: 'yolov8n', shadow: 'same' });
    expect((await answerOf('yolov8n')).model).toBe('yolov8n.pt');
  });

  test('a model that is not there, an alias of an alias, a canary that lacks classes and a trial of the model itself are refused', async () => {
    await put('depot', { model: 'first' });
    expect((await put('x', { model: 'absent' })).body.code).toBe('unknown_model');
    expect((await put('x', { model: 'depot' })).body.code).toBe('unknown_model');
    const lacking = await put('x', { model: 'first', canary: { model: 'other', share: 0.5 } });
    expect(lacking.body).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '#/canary/model' }],
    });
    const none = await put('x', { model: 'first', canary: { model: 'same', share: 0 } });
    expect([none.status, none.body.detail]).toEqual([422, 'canary.share: It must be above 0.']);
    const itself = await put('x', {
      model: 'first',
      canary: { model: 'first.pt', share: 0.5 },
      shadow: 'first',
    });
    expect(itself.body).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '#/canary/model' }, { pointer: '#/shadow' }],
    });
    expect((await put('a b', { model: 'first' })).status).toBe(422);
    expect((await send('GET', '/x')).body.code).toBe('alias_not_found');
    expect((await send('GET', '/depot/agreement')).body.code).toBe('no_other_model');
  });

  test('a canary answers its share of the pictures, each always by the same model, and whole jobs', async () => {
    // The same model may be tried as both: it looks at those pictures that the model has answered.
    const trial = { canary: { model: 'same', share: 0.5 }, shadow: 'same' };
    expect((await put('night', { model: 'first', ...trial })).status).toBe(201);
    const names = Array.from({ length: 24 }, (_, index) => `${'./'.repeat(index)}shapes.png`);
    const models = new Map<string, string>();
    for (const name of [...names, ...names]) {
      const { model } = await answerOf('night', name);
      expect(models.get(name) ?? model).toBe(model);
      models.set(name, model);
    }
    expect([...new Set(models.values())].sort()).toEqual(['first.pt', 'same.pt']);
    const jobs = Array.from({ length: 12 }, () =>
      submit(service.url, {
        model_name: 'night',
        job_type: 'batch_detect',
        image_paths: ['shapes.png', './shapes.png'],
        classes: ['*'],
      }),
    );
    const ran = new Set<string>();
    for (const jobId of await Promise.all(jobs)) {
      await eventual(async () => (await statusOf(service.url, jobId)).status).toBe('completed');
      const used = (await resultOf(service.url, jobId)).models as {
        model: string;
        images: number;
      }[];
      expect(used).toMatchObject([{ images: 2 }]);
      ran.add(used[0]?.model ?? '');
    }
    expect([...ran].sort()).toEqual(['first.pt', 'same.pt']);
  });

  test('a shadow of the same weights agrees in full; one that differs is flagged within 50 images', async () => {
    await put('yard', { model: 'first', shadow: 'same' });
    for (let image = 0; image < 10; image += 1) await answerOf('yard');
    await eventually(async () => {
      expect(await agreement('yard')).toMatchObject({ images: 10, share: 1, flagged: false });
    });
    expect(await agreement('yard')).toMatchObject({ least: [], all: { gained: 0, lost: 0 } });
    await put('yard', { model: 'first', shadow: 'other' });
    let images = 0;
    await eventually(async () => {
      await answerOf('yard');
      images += 1;
      expect((await agreement('yard')).flagged).toBe(true);
    });
    expect(images).toBeLessThanOrEqual(50);
    const { all, least, shadow, images: compared } = await agreement('yard');
    expect({ shadow, flipped: all.flipped }).toEqual({ shadow: 'other.pt', flipped: all.matched });
    expect(least[0]).toMatchObject({ image_path: 'shapes.png', share: 0 });
    // The boxes that were compared, whatever the request asked for.
    expect(least[0]?.boxes).toHaveLength((all.first + all.second) / 2 / compared);
    for (const { change, before, after } of least[0]?.boxes ?? []) {
      expect([change, OWN_CLASSES.indexOf(before?.class ?? '')]).toEqual([
        ...['changed', OTHER_CLASSES.indexOf(after?.class ?? '?')],
      ]);
    }
    await eventual(() => service.stdout()).toContain('the boxes of a shadow differ');
    const { text } = await call(service.url, '/metrics');
    expect(text).toMatch(
      /^lattice_shadow_images_total\{alias="yard.pt",outcome="compared"\} \d+$/m,
    );
    expect(text).toMatch(/^lattice_shadow_agreement\{alias="yard.pt"\} 0$/m);
  });
});

describe('on a service of its own', () => {
  beforeEach(make);
  afterEach(remove);

  test('an alias stands for its model, is promoted and taken back by one call each, and outlives a restart; its job stays on the model that it began with', async () => {
    service = await start();
    expect((await put('depot', { model: 'first' })).alias).toMatchObject({
      name: 'depot.pt',
      version: 1,
      model: 'first.pt',
      canary: null,
      shadow: null,
    });
    expect(await answerOf('depot')).toMatchObject({ model: 'first.pt' });
    expect((await put('depot', { model: 'first', shadow: 'other' })).status).toBe(200);
    const jobId = await submitMany(service.url, IMAGES, { model_name: 'depot' });
    await eventual(
      async () => (await statusOf(service.url, jobId)).finished_images,
    ).toBeGreaterThan(0);
    expect((await send('POST', '/depot/promote')).alias).toMatchObject({
      version: 3,
      model: 'other.pt',
      shadow: null,
    });
    const promoted = await answerOf('depot');
    expect(promoted.model).toBe('other.pt');
    expect(promoted.detections.map((found) => found.class)).toContain('auto');
    await service.kill('SIGKILL');
    service = await start();
    expect((await answerOf('depot')).model).toBe('other.pt');
    await eventual(async () => (await statusOf(service.url, jobId)).status).toBe('completed');
    expect((await resultOf(service.url, jobId)).models).toMatchObject([
      { model: 'first.pt', images: IMAGES },
    ]);
    const { body } = await call(service.url, `/v1/jobs/${jobId}/result?format=coco`);
    const { categories } = body as unknown as { categories: { name: string }[] };
    expect(categories.map(({ name }) => name)).toEqual(OWN_CLASSES);
    expect((await send('POST', '/depot/rollback')).alias).toMatchObject({
      version: 4,
      model: 'first.pt',
      shadow: 'other.pt',
    });
    expect((await send('POST', '/depot/rollback')).alias).toMatchObject({
      version: 5,
      shadow: null,
    });
    expect((await send('POST', '/depot/rollback')).body.code).toBe('no_other_model');
    expect((await send('POST', '/depot/promote')).body.code).toBe('no_other_model');
    expect((await send('GET', '/depot?version=3')).alias.model).toBe('other.pt');
    const { models } = (await call(service.url, '/v1/models')).body as unknown as ModelList;
    expect(models.find(({ name }) => name === 'depot.pt')).toMatchObject({
      alias_of: 'first.pt',
      state: 'ready',
    });
    expect((await send('DELETE', '/depot')).status).toBe(204);
    expect((await detect(service.url, { model_name: 'depot' })).body.code).toBe('unknown_model');
    expect((await put('depot', { model: 'first' })).alias.version).toBe(7);
  });

  test('models that answer under an alias are loaded before the start is over; one that is gone keeps nothing from starting', async () => {
    const late = join(scratch, 'models', 'late.onnx');
    writeFileSync(late, ownModel(OWN_CLASSES));
    service = await start();
    await put('depot', { model: 'first', canary: { model: 'same', share: 0.5 }, shadow: 'other' });
    await put('gone', { model: 'late' });
    await service.kill();
    rmSync(late);
    service = await start();
    expect((await call(service.url, '/readyz')).status).toBe(200);
    const { models } = (await call(service.url, '/v1/models')).body as unknown as ModelList;
    const states = models.map(({ name, state }) => [name, state]);
    expect(Object.fromEntries(states)).toMatchObject({
      ...{ 'yolov8n.pt': 'ready', 'first.pt': 'ready', 'same.pt': 'ready', 'depot.pt': 'ready' },
      ...{ 'other.pt': 'available', 'gone.pt': 'refused' },
    });
    expect(models.find(({ name }) => name === 'gone.pt')?.reason).toContain('late.pt');
    const { aliases } = (await send('GET', '')).body as unknown as AliasList;
    expect(aliases.map(({ name, model }) => [name, model])).toEqual([
      ['depot.pt', 'first.pt'],
      ['gone.pt', 'late.pt'],
    ]);
    expect(service.stdout()).toMatch(
      /"model":"late.pt","code":"unknown_model".*cannot be preloaded/,
    );
  });

  test('the agreement names pictures of the own key only', async () => {
    const keys = join(scratch, 'keys.txt');
    const [mine, theirs] = ['my-own-key-of-20-chars', 'another-key-of-20-char'];
    writeFileSync(keys, `${mine} mine\n${theirs} theirs\n`);
    service = await start({ LATTICE_API_KEYS_FILE: keys });
    const as = (key: string) => ({ authorization: `Bearer ${key}` });
    await put('depot', { model: 'first', shadow: 'other' }, as(mine));
    for (const [key, path] of [[mine, 'shapes.png'] as const, [theirs, './shapes.png'] as const]) {
      const body = { model_name: 'depot', image_path: path, classes: ['*'] };
      expect((await post(service.url, '/v1/inference/detect', body, as(key))).status).toBe(200);
    }
    const seenBy = async (key: string) => {
      const { body } = await call(service.url, at('/depot/agreement'), { headers: as(key) });
      return body as unknown as Agreement;
    };
    await eventually(async () => {
      expect(await seenBy(mine)).toMatchObject({
        images: 2,
        least: [{ image_path: 'shapes.png' }],
      });
    });
    expect((await seenBy(theirs)).least).toMatchObject([{ image_path: './shapes.png' }]);
  });
});
