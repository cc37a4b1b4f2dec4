/**
 * `lattice run` over many files: time to the first result, images per second, memory, how right the time that is left
 * was, and after kills at random whether each file has one outcome; exit code 1 if not.
 *
 *   npm run bench:runs -- [--files N] [--kills N] [--within SECONDS] [--seed S] [--photos FOLDER] [--model NAME]
 *     [--models-dir FOLDER] [--work FOLDER]
 *
 * Without `--photos`: small pictures of random pixels, and a network that computes nothing. `--within`: each kill
 * comes after at most so many seconds. `--work`: a folder that is kept, where the small pictures are made once.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { randomNumbers } from '../test/support/random-numbers.js';
import { etaErrors } from './runs/eta-errors.js';
import { killedRun } from './runs/killed-run.js';
import { noNetwork } from './runs/no-network.js';
import { copyPhotos } from './runs/photo-copies.js';
import { makeSmallFiles } from './runs/small-files.js';
import type { WatchedRun } from './runs/watched-run.js';
import { textTable } from './tables.js';

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '20000' },
    kills: { type: 'string', default: '0' },
    within: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    photos: { type: 'string' },
    model: { type: 'string' },
    'models-dir': { type: 'string' },
    precision: { type: 'string' },
    work: { type: 'string' },
  },
});

const work = values.work ?? mkdtempSync(join(tmpdir(), 'lattice-runs-'));
try {
  await measure();
} finally {
  if (values.work === undefined) rmSync(work, { recursive: true });
}

async function measure(): Promise<void> {
  const files = Number(values.files);
  const seed = Number(values.seed);
  const args = await filesAndModel(files);
  const out = join(work, `run-${seed}`);
  const kills = Number(values.kills);
  const within = Number(values.within);
  const random = randomNumbers(seed);
  const run = await killedRun(args, out, files, { kills, within, random });
  const { calls, violations, workers } = run;
  const last = calls.at(-1)!;
  const done = /^(\d+) done.*; ([\d.]+) s, ([\d.]+) images\/s$/m.exec(last.out);
  const killed = calls.filter(({ code }) => code === null).length;
  const firsts = calls.flatMap(({ lines }) => lines[0]?.at ?? []);
  console.log(
    `${files} files, seed ${seed}, ${killed} calls killed, results of ${workers} processes`,
  );
  console.log(`first result ${Math.max(...firsts).toFixed(1)} s after the start of a call at most`);
  const most = (of: (call: WatchedRun) => number) => Math.max(...calls.map(of)).toFixed(0);
  console.log(
    `most resident memory of the processes together ${most(({ mostMib }) => mostMib)} MiB, ` +
      `${most(({ mostOwnMib }) => mostOwnMib)} MiB where shared memory counts once`,
  );
  console.log(`by minute of the last call: ${last.mibByMinute.join(' ')}`);
  console.log(`last call ${last.seconds.toFixed(1)} s: ${done?.[0] ?? last.err.slice(-500)}`);
  const errors = etaErrors(last);
  if (errors.length > 0) console.log(textTable(errors));
  for (const line of last.out.split('\n')) if (line.startsWith('The network')) console.log(line);
  console.log(violations.length === 0 ? 'each file has one outcome' : violations.slice(0, 20));
  process.exitCode = violations.length === 0 && last.code === 0 ? 0 : 1;
}

/** Folder and options of the calls. */
async function filesAndModel(files: number): Promise<string[]> {
  const folder = join(work, `${values.photos === undefined ? 'small' : 'photos'}-${files}`);
  if (!existsSync(folder)) {
    mkdirSync(folder, { recursive: true });
    if (values.photos === undefined) await makeSmallFiles(folder, files, 1);
    else await copyPhotos(values.photos, folder, files);
  }
  const { model, precision, 'models-dir': modelsDir } = values;
  if (values.photos === undefined && model === undefined) {
    const models = join(work, 'models');
    mkdirSync(models, { recursive: true });
    writeFileSync(join(models, 'nothing.onnx'), noNetwork());
    return [folder, '--model', 'nothing', '--models-dir', models, '--precision', 'f32'];
  }
  return [
    folder,
    ...(model === undefined ? [] : ['--model', model]),
    ...(modelsDir === undefined ? [] : ['--models-dir', modelsDir]),
    ...(precision === undefined ? [] : ['--precision', precision]),
  ];
}
