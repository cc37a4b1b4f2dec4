/** `lattice model compare` with real models on the demo pictures. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JobAgreement } from '../../src/client/records.js';
import { ownModel } from '../support/own-model.js';
import { DEMO } from '../support/service-client.js';
import { PROJECT_ROOT } from '../support/service-process.js';
import { run } from './run.js';

const BUNDLED = join(PROJECT_ROOT, 'models', 'vehicles-v8n.onnx');
const STREET = join(DEMO, 'street.jpg');

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-compare-'));
  mkdirSync(join(folder, 'labels'));
  writeFileSync(join(folder, 'other.onnx'), ownModel(['one', 'two', 'three', 'four']));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Its figures are those of the API. */
interface Report extends Pick<JobAgreement, 'share' | 'all' | 'by_class' | 'by_size'> {
  models: { model: string; map50_95: number | null; inference_ms: number }[];
  images: number;
  least: Omit<JobAgreement['least'][number], 'index' | 'with_index'>[];
}

async function compared(...args: string[]): Promise<Report> {
  const { out, code } = await run('model', 'compare', ...args, '--json');
  expect(code).toBe(0);
  return JSON.parse(out) as Report;
}

test('the same file agrees with itself in full', async () => {
  const report = await compared(BUNDLED, BUNDLED, '--images', STREET);
  expect(report).toMatchObject({
    ...{ images: 1, share: 1, least: [], all: { flipped: 0, lost: 0, gained: 0 } },
  });
  expect(report.all.first).toBeGreaterThan(0);
  expect(report.all.score_shift).toBeCloseTo(0);
  expect(report.models.map(({ model }) => model)).toEqual([BUNDLED, BUNDLED]);
});

test('another model is told by class, and the pictures that agree least are named', async () => {
  const args = [BUNDLED, join(folder, 'other.onnx'), '--images', DEMO];
  const report = await compared(...args);
  expect(report.share).toBeLessThan(0.5);
  expect(report.all.flipped).toBeGreaterThan(0);
  expect(report.by_class.map(({ of }) => of)).toEqual(expect.arrayContaining(['car']));
  const [worst] = report.least;
  expect(worst!.image_path).toMatch(/models\/demo\/\w+\.\w+$/);
  expect(worst!.share).toBeLessThanOrEqual(report.least.at(-1)!.share);
  expect(Object.keys(worst!).sort()).toEqual(['flipped', 'gained', 'image_path', 'lost', 'share']);
  const { out } = await run('model', 'compare', ...args);
  expect(out).toMatch(/^MODEL +PRECISION +TIME +BOXES$/m);
  expect(out).toMatch(
    /^On \d+ pictures \d+\.\d % of the boxes above 30 % and of their partners agree\.$/m,
  );
  expect(out).toMatch(/^BOXES +FIRST +SECOND +MATCHED +FLIPPED +LOST +GAINED +SCORE$/m);
  const [, first, second] = /^all +(\d+) +(\d+) /m.exec(out)!;
  expect(out).toMatch(new RegExp(`^first: .* ms +${first}$`, 'm'));
  expect(out).toMatch(new RegExp(`^second: .* ms +${second}$`, 'm'));
  expect(out).toContain('Pictures that agree least:');
});

test('labels show how precise both are', async () => {
  writeFileSync(join(folder, 'labels', 'street.txt'), '0 0.5 0.5 0.2 0.2\n');
  const labels = join(folder, 'labels');
  const report = await compared(BUNDLED, BUNDLED, '--images', DEMO, '--labels', labels);
  const [first, second] = report.models;
  expect(first!.map50_95).not.toBeNull();
  expect(second!.map50_95).toBe(first!.map50_95);
});

test('a file that is not there and one that is no model are refused', async () => {
  const absent = await run(
    'model',
    'compare',
    BUNDLED,
    join(folder, 'absent.onnx'),
    '--images',
    DEMO,
  );
  expect(absent.code).not.toBe(0);
  expect(absent.err).toContain('absent.onnx');
  writeFileSync(join(folder, 'text.onnx'), 'no network');
  const text = await run('model', 'compare', BUNDLED, join(folder, 'text.onnx'), '--images', DEMO);
  expect(text.code).not.toBe(0);
  expect(text.err).toContain('text.onnx');
});
