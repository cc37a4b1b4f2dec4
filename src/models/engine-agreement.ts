/**
 * How far the boxes of a GPU's engine are those of the same file in f32 on the CPU. Each engine is compared once, on the
 * demo pictures; what came of it is kept in a file beside the engine.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { LatticeError } from '../api/errors.js';
import type { Detection } from '../api/image.js';
import type { NativeModel } from '../native/contract.js';
import type { Core } from '../native/core.js';
import { compare } from './box-agreement.js';
import { openCpuCore } from './cpu-core.js';
import { readDemoPictures } from './demo-pictures.js';
import type { ModelFile } from './model-folder.js';
import { detectionsFrom } from './raw-detections.js';
import { runOn, type Picture } from './self-check/model-check.js';

/** An engine below this is refused. */
export const LEAST_AGREEMENT = 0.98;

/** Partners have the same class, this overlap, and scores that differ by a fifth of the least one that counts at most. */
const OVERLAP = 0.9;
const GAP = 0.2;
/** Boxes with a higher score count, or with half of the best one of a model that finds nothing on the pictures ... */
const CLEAR = 0.25;
/** ... down to this one: below it a score is rounding. */
const FAINTEST = 0.001;
/** Of one picture on one side; it has 300 at most, and a box near the end of one list may be beyond that of the other. */
const MOST_COUNTED = 200;

const agreementSchema = z.object({
  /** SHA-256 of the engine's file: the score of another one does not count. */
  engine: z.string(),
  /** As `Agreement.share`. */
  share: z.number().nullable(),
  /** On both sides together. */
  boxes: z.int(),
});
type EngineAgreement = z.infer<typeof agreementSchema>;

export interface ComparedModel {
  file: Pick<ModelFile, 'name' | 'path'>;
  native: NativeModel;
}

export interface EngineCheckOptions {
  /** Has the model loaded, with the engine of one batch size. */
  core: Pick<Core, 'run'>;
  engineFolder: string;
  /** Of the CPU. */
  threads: number;
}

/**
 * The share of boxes of the engine for the smallest batches that agree, 0 to 1; null where neither side has any. Rejects with `invalid_model` below
 * `LEAST_AGREEMENT`, and as `Core.loadModel` and `Core.run` of either device.
 */
export async function checkEngine(
  model: ComparedModel,
  options: EngineCheckOptions,
): Promise<number | null> {
  const file = model.native.engines[0]?.file ?? null;
  const path = file === null ? null : join(options.engineFolder, file);
  const engine = path === null ? null : await digestOf(path);
  const kept = path === null ? null : await keptFor(engine, path);
  const agreement = kept ?? { engine: engine ?? '', ...(await measure(model, options)) };
  if (kept === null && path !== null && engine !== null) await keep(agreement, path);
  if (isTooFarOff(agreement)) throw tooFarOff(model, agreement);
  return agreement.share;
}

/** What came of the comparison of the engine in this file; null where there was none, and without an engine. */
export async function keptAgreement(path: string): Promise<EngineAgreement | null> {
  const engine = await digestOf(path);
  return engine === null ? null : keptFor(engine, path);
}

export const isTooFarOff = ({ share }: Pick<EngineAgreement, 'share'>): boolean =>
  share !== null && share < LEAST_AGREEMENT;

async function measure({ file, native }: ComparedModel, { core, threads }: EngineCheckOptions) {
  const pictures = await readDemoPictures();
  const found = await boxesOn(pictures, native, core);
  // The GPU runs the model's own input only.
  const reference = openCpuCore({ precision: 'f32', threads, rectangles: [] });
  try {
    const exact = await reference.loadModel(file.path);
    return agreementOf(await boxesOn(pictures, exact, reference), found);
  } finally {
    await reference.close();
  }
}

/**
 * Before overlapping boxes are merged: they are many times more, and which of two equals a merge keeps hangs on the last
 * digit.
 */
async function boxesOn(
  pictures: readonly Picture[],
  model: NativeModel,
  core: Pick<Core, 'run'>,
): Promise<Detection[][]> {
  const all: Detection[][] = [];
  for (const picture of pictures) {
    const { boxes } = await runOn(picture, model, core, { iou: 1 });
    all.push(detectionsFrom(boxes, model.names));
  }
  return all;
}

/** Both by picture, each list by score. */
export function agreementOf(
  expectedBoxes: readonly Detection[][],
  foundBoxes: readonly Detection[][],
): Pick<EngineAgreement, 'share' | 'boxes'> {
  // Beside the picture a box is cut to nothing, which overlaps nothing, not even itself.
  const [expected, found] = [expectedBoxes, foundBoxes].map((lists) =>
    lists.map((boxes) => boxes.filter(hasArea)),
  ) as [Detection[][], Detection[][]];
  const lists = [...expected, ...found];
  const best = Math.max(0, ...lists.map(([first]) => first?.confidence ?? 0));
  const ends = lists.map((list) => list[MOST_COUNTED]?.confidence ?? 0);
  const floor = Math.max(FAINTEST, Math.min(CLEAR, best / 2), ...ends);
  const pairs = expected.map((boxes, index) => {
    return { photo: `${index}`, expected: boxes, found: found[index] ?? [] };
  });
  const compared = compare(pairs, OVERLAP, floor, GAP * floor);
  return { share: compared.share, boxes: compared.expected + compared.found };
}

const hasArea = ({ box: [x1, y1, x2, y2] }: Detection): boolean => x1 < x2 && y1 < y2;

function tooFarOff(
  { file, native }: ComparedModel,
  { share, boxes }: EngineAgreement,
): LatticeError {
  const { device, precision, engines } = native;
  const { batch = 1, file: engineFile = null } = engines[0] ?? {};
  return new LatticeError(
    'invalid_model',
    `The model '${file.name}' gives other boxes on ${device} in ${precision} and batches of ${batch} than on the CPU in f32: of ${boxes} boxes of both ` +
      `on the demo pictures ${percent(share ?? 0)} agree, and ${percent(LEAST_AGREEMENT)} are needed. ` +
      'Run it on the CPU: LATTICE_DEVICE=cpu.' +
      (engineFile === null
        ? ''
        : ` If the engine may be damaged, remove ${engineFile} from the folder of engines and start again.`),
  );
}

/** Rounded down: what is too little does not look like enough. */
const percent = (share: number) => `${Math.floor(share * 1_000) / 10} %`;

const pathBeside = (engine: string) => `${engine}.agreement`;

/** Null where there is none of this very engine. */
async function keptFor(digest: string | null, engine: string): Promise<EngineAgreement | null> {
  const text = await readFile(pathBeside(engine), 'utf8').catch(() => '');
  try {
    const kept = agreementSchema.parse(JSON.parse(text));
    return kept.engine === digest ? kept : null;
  } catch {
    return null;
  }
}

/** A file that is cut short, or that a full disk did not take, costs the next load a comparison. */
async function keep(agreement: EngineAgreement, engine: string): Promise<void> {
  const text = `${JSON.stringify(agreement)}\n`;
  await writeFile(pathBeside(engine), text, { mode: 0o600 }).catch(() => undefined);
}

/** Null where the file cannot be read. */
async function digestOf(path: string): Promise<string | null> {
  const hash = createHash('sha256');
  return pipeline(createReadStream(path, { highWaterMark: 2 ** 20 }), hash).then(
    () => hash.digest('hex'),
    () => null,
  );
}
