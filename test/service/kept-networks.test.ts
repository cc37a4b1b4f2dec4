/** Networks that a service has kept, damaged between two starts. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keep, readKept } from '../../src/native/core.js';
import { writeOwnModel } from '../support/own-model.js';
import { call, detect } from '../support/service-client.js';
import { PROJECT_ROOT, startService } from '../support/service-process.js';

const OWN = { model_name: 'own.pt', confidence_threshold: 0.01 };

let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'lattice-kept-'));
  writeOwnModel(join(scratch, 'models'));
});
afterEach(() => {
  rmSync(scratch, { recursive: true, force: true });
});

/** The boxes of the user's model, what the list of models says of it, and the log. */
async function oneStart() {
  await using service = await startService({
    dataDir: join(scratch, 'data'),
    env: {
      LATTICE_MODELS_DIR: join(scratch, 'models'),
      LATTICE_PRELOAD: 'own',
      // In bf16, which some machines choose, a network that was compiled just now is compared too.
      LATTICE_PRECISION: 'f32',
    },
    // The last start compiles a network and compares the kept one with it, which a busy machine takes long for.
    timeoutMs: 120_000,
  });
  const { status, body } = await detect(service.url, OWN);
  expect(status).toBe(200);
  const { models } = (await call(service.url, '/v1/models')).body as unknown as {
    models: { name: string }[];
  };
  const own = models.find(({ name }) => name === 'own.pt');
  await service.kill();
  return { detections: body.detections, own, log: service.stdout() };
}

const engines = (suffix: string) => {
  const folder = join(scratch, 'data', 'engines');
  return readdirSync(folder)
    .filter((name) => name.startsWith('own_') && name.endsWith(suffix))
    .map((name) => join(folder, name));
};

test('a damaged network answers as before, is said and replaced, and is taken from then on', async () => {
  const first = await oneStart();
  expect(first.detections).not.toEqual([]);
  expect(first.log).not.toContain('damaged');
  // It was compiled in f32 just now: there is nothing to compare it with.
  expect(first.own).toMatchObject({ state: 'ready', agreement: null });
  expect(engines('.agreement')).toEqual([]);
  const [network] = engines('.network');
  const whole = readFileSync(network!);
  const { ino } = statSync(network!);
  writeFileSync(network!, Buffer.from(whole).fill(0, whole.length - 60_000, whole.length - 56_000));

  const second = await oneStart();
  expect(second.detections).toEqual(first.detections);
  expect(second.own).toMatchObject({ state: 'ready', agreement: null });
  expect(second.log).toContain('a kept file is damaged; it is made anew');
  expect(second.log).toContain('does not hold the bytes that were stored');
  expect(engines('.network')).toEqual([network]);
  const replaced = statSync(network!).ino;
  expect(replaced).not.toBe(ino);
  expect(engines('.agreement')).toEqual([]);

  const third = await oneStart();
  expect(third.detections).toEqual(first.detections);
  expect(third.own).toMatchObject({ state: 'ready', agreement: 1 });
  expect(third.log).not.toContain('damaged');
  expect(statSync(network!).ino).toBe(replaced);
  expect(engines('.agreement')).toHaveLength(1);
});

/** The precision of the bundled model, which the service takes for the faster one here. */
async function chosenPrecision(): Promise<string> {
  await using service = await startService({
    dataDir: join(scratch, 'data'),
    env: { LATTICE_MODELS_DIR: join(PROJECT_ROOT, 'models') },
  });
  const { models } = (await call(service.url, '/v1/models')).body as unknown as {
    models: { is_default: boolean; precision: string }[];
  };
  return models.find((model) => model.is_default)!.precision;
}

/** Where a start has kept how much faster 8 bits are. */
function keptGain(): { folder: string; file: string } {
  const folder = join(scratch, 'data', 'engines');
  const file = readdirSync(folder).find((name) => /^int8-over-.*\.gain$/.test(name));
  return { folder, file: file! };
}

test('what was measured of the CPU is kept, and taken by the next start', async () => {
  const measured = await chosenPrecision();
  const { folder, file } = keptGain();
  for (const gain of measured === 'int8' ? ['0.5', '3'] : ['3', '0.5']) {
    await keep(folder, file, gain);
    expect((await chosenPrecision()) === 'int8', gain).toBe(gain === '3');
  }
});

test('a gain that is close to the least one is measured until the median of five decides', async () => {
  await chosenPrecision();
  const { folder, file } = keptGain();
  const count = async () => (await readKept(folder, file))?.trim().split(' ').length;
  await keep(folder, file, '1.1 1.1 1.1 1.1');
  expect(await chosenPrecision()).not.toBe('int8');
  expect(await count()).toBe(5);
  await keep(folder, file, '1.2 1.1 1.2 1.1 1.2');
  expect(await chosenPrecision()).toBe('int8');
  expect(await count()).toBe(5);
});
