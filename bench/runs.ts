/**
 * `lattice run` over many files: time to the first result, images per second, memory, how right the time that is left
 * was, and after kills at random whether each file has one outcome; exit code 1 if not.
 *
 *   npm run bench:runs -- [--files N] [--kills N] [--within SECONDS] [--seed S] [--photos FOLDER] [--model NAME]
 *     [--models-dir FOLDER] [--work FOLDER]
 *
 *   npm run bench:runs -- --beside-python --photos FOLDER [--files N] [--rounds N] [--model NAME] [--models-dir FOLDER]
 *
 * Without `--photos`: small pictures of random pixels, and a network that computes nothing. `--within`: each kill
 * comes after at most so many seconds. `--work`: a folder that is kept, where the small pictures are made once.
 * `--beside-python`: in turn with loops in Python over the same photos and the same copy in 8 bits of the model.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { eightBitPath } from '../src/models/eight-bit-copy.js';
import { randomNumbers } from '../test/support/random-numbers.js';
import { PROJECT_ROOT } from '../test/support/service-process.js';
import { PYTHON } from './peers/sides.js';
import { besidePython } from './runs/beside-python.js';
import { etaErrors } from './runs/eta-errors.js';
import { killedRun } from './runs/killed-run.js';
import { noNetwork } from './runs/no-network.js';
import { copyPhotos } from './runs/photo-copies.js';
import { makeSmallFiles } from './runs/small-files.js';
import { loopRows } from './runs/loop-figures.js';
import { doneLine, type WatchedRun } from './runs/watched-run.js';
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
    'beside-python': { type: 'boolean', default: false },
    rounds: { type: 'string', default: '8' },
  },
});

const work = values.work ?? mkdtempSync(join(tmpdir(), 'lattice-runs-'));
try {
  await (values['beside-python'] ? compare() : measure());
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
  const done = doneLine(last.out);
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
  console.log(`last call ${last.seconds.toFixed(1)} s: ${done?.text ?? last.err.slice(-500)}`);
  const errors = etaErrors(last);
  if (errors.length > 0) console.log(textTable(errors));
  for (const line of last.out.split('\n')) if (line.startsWith('The network')) console.log(line);
  console.log(violations.length === 0 ? 'each file has one outcome' : violations.slice(0, 20));
  process.exitCode = violations.length === 0 && last.code === 0 ? 0 : 1;
}

async function compare(): Promise<void> {
  const modelsDir = resolve(values['models-dir'] ?? join(PROJECT_ROOT, 'models'));
  const model = (values.model ?? 'vehicles-v8n').replace(/\.pt$/, '');
  const eightBits = eightBitPath(join(modelsDir, `${model}.onnx`));
  const missing = [PYTHON, eightBits].find((file) => !existsSync(file));
  if (values.photos === undefined || missing !== undefined) {
    console.error(`${missing ?? '--photos FOLDER'} is missing (bench/peers/README.md).`);
    process.exitCode = 2;
    return;
  }
  const files = Number(values.files);
  const folder = await pictures(files);
  const at = { folder, files, modelsDir, model, eightBits, out: join(work, 'beside-python') };
  const rounds = await besidePython(at, Number(values.rounds));
  console.log(`${files} photos, ${rounds.length} rounds, ${basename(eightBits)}`);
  console.log(`\nfrom the first image to the last, as each call tells it`);
  console.log(textTable(loopRows(rounds, 'told')));
  console.log(`\nwhole commands`);
  console.log(textTable(loopRows(rounds, 'whole')));
}

/** Folder of the files, made where it is not there. */
async function pictures(files: number): Promise<string> {
  const folder = join(work, `${values.photos === undefined ? 'small' : 'photos'}-${files}`);
  if (existsSync(folder)) return folder;
  mkdirSync(folder, { recursive: true });
  if (values.photos === undefined) await makeSmallFiles(folder, files, 1);
  else await copyPhotos(values.photos, folder, files);
  return folder;
}

/** Folder and options of the calls. */
async function filesAndModel(files: number): Promise<string[]> {
  const folder = await pictures(files);
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
