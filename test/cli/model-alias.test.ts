/** `lattice model alias` against a running service. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Agreement, Alias } from '../../src/client/records.js';
import { eventually } from '../support/eventually.js';
import { OWN_CLASSES, ownModel } from '../support/own-model.js';
import { detect, FEW_THREADS } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';
import { run, runOn, type CliRun } from './run.js';

let models: string;
let service: ServiceProcess;

beforeAll(async () => {
  models = mkdtempSync(join(tmpdir(), 'lattice-alias-cli-'));
  writeFileSync(join(models, 'first.onnx'), ownModel(OWN_CLASSES));
  writeFileSync(join(models, 'same.onnx'), ownModel(OWN_CLASSES));
  writeFileSync(join(models, 'other.onnx'), ownModel(['auto', 'moto', 'coach', 'truck']));
  const env = { ...FEW_THREADS, LATTICE_MODELS_DIR: models, LATTICE_PRECISION: 'f32' };
  service = await startService({ env });
});

beforeEach(() => {
  vi.stubEnv('LATTICE_CORE_API_URL', service.url);
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await service[Symbol.asyncDispose]();
  rmSync(models, { recursive: true, force: true });
});

const alias = (...args: string[]): Promise<CliRun> => run('model', 'alias', ...args);
const recordOf = ({ out }: CliRun): Alias => JSON.parse(out) as Alias;

test('an alias is set, promoted, taken back, listed and removed', async () => {
  const set = await alias('set', 'depot', 'first', '--shadow', 'other');
  expect(set).toMatchObject({ code: 0, err: '' });
  expect(set.out).toMatch(/^depot\.pt +first\.pt +- +other\.pt +1 /m);
  expect(recordOf(await alias('promote', 'depot', '--force', '--json'))).toMatchObject({
    model: 'other.pt',
  });
  expect((await alias('rollback', 'depot')).out).toMatch(
    /^depot\.pt +first\.pt +- +other\.pt +3 /m,
  );
  const list = await alias('list', '--json');
  expect(JSON.parse(list.out)).toMatchObject([{ name: 'depot.pt', version: 3, before: null }]);
  expect(await alias('remove', 'depot')).toMatchObject({ code: 0, out: '' });
  expect((await alias('list')).err).toBe('There is no alias.\n');
});

test('canary and share go together, and what the service refuses is said', async () => {
  const halves = await alias('set', 'depot', 'first', '--canary', 'same');
  expect(halves).toMatchObject({ code: 2, err: expect.stringContaining('--share') as string });
  expect((await alias('set', 'depot', 'first', '--canary', 'same', '--share', '0')).code).toBe(2);
  const canary = ['--canary', 'same', '--share', '0.25', '--json'];
  expect(recordOf(await alias('set', 'depot', 'first', ...canary))).toMatchObject({
    canary: { model: 'same.pt', share: 0.25 },
    shadow: null,
  });
  const itself = await alias('set', 'depot', 'first', '--shadow', 'first');
  expect(itself).toMatchObject({
    code: 1,
    err: expect.stringContaining('shadow: It is the model of the alias itself') as string,
  });
  const absent = await alias('promote', 'nowhere');
  expect(absent).toMatchObject({ code: 1, err: expect.stringContaining('nowhere') as string });
});

test('a shadow that cannot be judged, and one that fails, is exit code 1', async () => {
  await alias('set', 'fresh', 'first', '--shadow', 'same');
  const fresh = await alias('agreement', 'fresh');
  expect(fresh.code).toBe(1);
  expect(fresh.err).toMatch(/^Too early to judge/);
  expect(fresh.out).toMatch(/^first: first\.pt +-$/m);
  expect(fresh.out).toContain('On 0 pictures neither has a box; 0 were dropped, 0 have failed.');
  await alias('set', 'lacking', 'first', '--shadow', 'other');
  await detect(service.url, {
    model_name: 'lacking',
    image_path: 'shapes.png',
    classes: ['Lorry'],
  });
  await eventually(async () => {
    const { code, err, out } = await alias('agreement', 'lacking');
    expect({ code, err }).toEqual({
      ...{ code: 1, err: 'Not to be promoted: other.pt has failed on 1 pictures.\n' },
    });
    expect(out).toContain("no class 'Lorry'");
  });
  const agreeing = { model_name: 'fresh', image_path: 'shapes.png', classes: ['*'] };
  await eventually(async () => {
    await detect(service.url, agreeing);
    expect(await alias('agreement', 'fresh')).toMatchObject({ code: 0, err: '' });
  });
});

test('a shadow that does not pass is promoted by force or a yes only', async () => {
  await alias('set', 'early', 'first', '--shadow', 'other');
  const refused = await alias('promote', 'early', '--json');
  expect(refused).toEqual({
    code: 1,
    out: '',
    err: 'lattice: Too early to judge: the latest pictures have fewer than 20 boxes. The alias is as before; --force promotes other.pt.\n',
  });
  const answer = (yes: boolean) => ({ confirm: () => Promise.resolve(yes) });
  const promote = ['model', 'alias', 'promote', 'early', '--json'];
  expect(await runOn(answer(false), ...promote)).toMatchObject({ code: 1, out: '' });
  expect(recordOf(await alias('list', '--json'))).toMatchObject(
    expect.arrayContaining([expect.objectContaining({ name: 'early.pt', model: 'first.pt' })]),
  );
  expect(recordOf(await runOn(answer(true), ...promote))).toMatchObject({ model: 'other.pt' });
  // A canary is on trial by its answers, not by an agreement.
  await alias('set', 'tried', 'first', '--canary', 'same', '--share', '0.5');
  expect(await alias('promote', 'tried')).toMatchObject({ code: 0, err: '' });
});

test('the agreement of a shadow is shown, and a flagged one is exit code 1', async () => {
  await alias('set', 'depot', 'first', '--shadow', 'other');
  await eventually(async () => {
    await detect(service.url, { model_name: 'depot', image_path: 'shapes.png', classes: ['*'] });
    const { out, code } = await alias('agreement', 'depot', '--json');
    expect((JSON.parse(out) as Agreement).flagged).toBe(true);
    expect(code).toBe(1);
  });
  const { out, err } = await alias('agreement', 'depot');
  expect(out).toMatch(
    /^On \d+ pictures 0\.0 % of the boxes agree; \d+ were dropped, 0 have failed\.$/m,
  );
  expect(out).toMatch(/^shapes\.png +0\.0 % +0 lost, 0 gained, \d+ flipped$/m);
  expect(err).toMatch(/^Flagged/);
});
