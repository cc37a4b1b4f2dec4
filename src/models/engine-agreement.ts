/**
 * How far the boxes of a GPU's engine, or of a network that the CPU keeps or computes in few bits, are those of the
 * same file compiled in f32 for the CPU. Each is compared once, on the demo pictures; what came of it is kept beside
 * its file.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { LatticeError } from '../api/errors.js';
import type { Detection } from '../api/schemas/image.js';
import { agreementOf, shareOrNull } from '../boxes/agreement.js';
import { pairBoxes } from '../boxes/pairing.js';
import { detectionsFrom } from '../boxes/raw-detections.js';
import type { NativeModel } from '../native/contract.js';
import { keep, readKept, type Core, type CoreOptions } from '../native/core.js';
import { openCpuCore } from './cpu-core.js';
import { readDemoPictures } from './demo-pictures.js';
import type { ModelFile } from './model-folder.js';
import { runOn, type Picture } from './self-check/model-check.js';

/** An engine whose share of agreeing boxes is below this is refused. */
export const LEAST_AGREEMENT = 0.98;
/**
 * The limit for 8-bit copies, which round more. Copies whose loss on labelled photos is proven to be small had 0.92 to
 * 0.99. A copy below the limit computes something else.
 */
const LEAST_IN_8_BITS = 0.9;

const OVERLAP = 0.9;
/** Largest difference of the scores of partners, as a fraction of the lowest score that counts. */
const GAP = 0.2;
/**
 * A box counts if its score is above CLEAR. For a model that finds nothing that clear, a box counts from half of its
 * best score, but never below FAINTEST, where a score is rounding.
 */
const CLEAR = 0.25;
const FAINTEST = 0.001;
/**
 * Most boxes of one picture and one side that count. A side has at most 300, and a box near the end of one list may lie
 * beyond the end of the other list.
 */
const MOST_COUNTED = 200;

const agreementSchema = z.object({
  /** SHA-256 of the engine's file. A score of another file does not count. */
  engine: z.string(),
  /** The fraction of the boxes of both sides that have a partner; null without a box. */
  share: z.number().nullable(),
  /** The number of boxes of both sides together. */
  boxes: z.int(),
});
type EngineAgreement = z.infer<typeof agreementSchema>;

export interface ComparedModel {
  file: Pick<ModelFile, 'name' | 'path'>;
  native: NativeModel;
  /** Set by the comparison, also where it rejects. */
  agreement?: number | null;
}

export interface EngineCheckOptions {
  /** Has the model loaded, with the engine of one batch size. */
  core: Pick<Core, 'run'>;
  engineFolder: string;
  /** Threads of the CPU. */
  threads: number;
  /** The rectangles of `core`. */
  rectangles?: CoreOptions['rectangles'];
}

const isOnGpu = ({ engines }: Pick<NativeModel, 'engines'>): boolean => engines.length > 0;

/**
 * Whether its boxes are compared before it answers. On the CPU a bundled model is not, whose boxes on a picture are
 * known, nor one that was compiled in f32 from its file just now: the other side of the comparison would be the same
 * network.
 */
export const isCompared = ({
  file,
  native,
}: {
  file: Pick<ModelFile, 'bundled'>;
  native: NativeModel;
}): boolean => isOnGpu(native) || (!file.bundled && (native.wasKept || native.precision !== 'f32'));

/**
 * Compares the network, or the engine for the smallest batches, with f32. Rejects with the errors of `Core.loadModel`
 * and `Core.run` of either device.
 */
async function agreementWithF32(
  model: ComparedModel,
  options: EngineCheckOptions,
): Promise<EngineAgreement> {
  const { engineFolder } = options;
  const file = model.native.engines[0]?.file ?? model.native.keptFile;
  const engine = file === null ? null : await digestOf(join(engineFolder, file));
  const kept = file === null ? null : await keptFor(engine, engineFolder, file);
  if (kept !== null) return kept;
  const agreement = { engine: engine ?? '', ...(await measure(model, options)) };
  if (file !== null && engine !== null) {
    // If the disk is full the agreement is not kept, and the next load compares again.
    await keep(engineFolder, nameBeside(file), JSON.stringify(agreement)).catch(() => undefined);
  }
  return agreement;
}

/**
 * Sets `model.agreement` to the share of `agreementWithF32` and returns it; null if neither side has a box. Rejects
 * with `invalid_model` below the limit.
 */
export async function checkEngine(
  model: ComparedModel,
  options: EngineCheckOptions,
): Promise<number | null> {
  const agreement = await agreementWithF32(model, options);
  model.agreement = agreement.share;
  if (isTooFarOff(agreement, model.native)) throw tooFarOff(model, agreement);
  return agreement.share;
}

/** The kept result of the comparison of the engine in this file; null where there was none, and without an engine. */
export async function keptAgreement(folder: string, file: string): Promise<EngineAgreement | null> {
  const engine = await digestOf(join(folder, file));
  return engine === null ? null : keptFor(engine, folder, file);
}

const leastFor = ({ precision }: Pick<NativeModel, 'precision'>): number =>
  precision === 'int8' ? LEAST_IN_8_BITS : LEAST_AGREEMENT;

export const isTooFarOff = (
  { share }: Pick<EngineAgreement, 'share'>,
  native: Pick<NativeModel, 'precision'>,
): boolean => share !== null && share < leastFor(native);

async function measure(
  { file, native }: ComparedModel,
  { core, threads, rectangles }: EngineCheckOptions,
) {
  const pictures = await readDemoPictures();
  const found = await boxesOn(pictures, native, core);
  // The GPU runs the model's own input only.
  const inputs = isOnGpu(native) ? [] : rectangles;
  const reference = openCpuCore({
    precision: 'f32',
    threads,
    ...(inputs === undefined ? {} : { rectangles: inputs }),
  });
  try {
    const exact = await reference.loadModel(file.path);
    return engineAgreement(await boxesOn(pictures, exact, reference), found);
  } finally {
    await reference.close();
  }
}

/**
 * Compares boxes before overlapping ones are merged: there are many times more of them, and the last digit decides
 * which of two equal boxes a merge keeps.
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

/** Compares boxes by picture; each list is sorted by score. */
export function engineAgreement(
  expectedBoxes: readonly Detection[][],
  foundBoxes: readonly Detection[][],
): Pick<EngineAgreement, 'share' | 'boxes'> {
  // A box beside the picture is cut to nothing, which overlaps nothing, not even itself.
  const [expected, found] = [expectedBoxes, foundBoxes].map((lists) =>
    lists.map((boxes) => boxes.filter(hasArea)),
  ) as [Detection[][], Detection[][]];
  const lists = [...expected, ...found];
  const best = Math.max(0, ...lists.map(([first]) => first?.confidence ?? 0));
  const ends = lists.map((list) => list[MOST_COUNTED]?.confidence ?? 0);
  const floor = Math.max(FAINTEST, Math.min(CLEAR, best / 2), ...ends);
  const rule = { overlap: OVERLAP, oneClass: true, scoreGap: GAP * floor };
  const pictures = expected.map((boxes, picture) => ({
    picture,
    boxes: pairBoxes(boxes, found[picture] ?? [], rule),
  }));
  const report = agreementOf(pictures, floor, false);
  return { share: shareOrNull(report), boxes: report.all.first + report.all.second };
}

const hasArea = ({ box: [x1, y1, x2, y2] }: Detection): boolean => x1 < x2 && y1 < y2;

function tooFarOff(
  { file, native }: ComparedModel,
  { share, boxes }: EngineAgreement,
): LatticeError {
  const { device, precision, engines } = native;
  const { batch, file: engineFile = null } = engines[0] ?? {};
  const batches = batch === undefined ? '' : ` and batches of ${batch}`;
  return new LatticeError(
    'invalid_model',
    `The model '${file.name}' gives other boxes on ${device} in ${precision}${batches} than on the CPU in f32: of ${boxes} boxes of both ` +
      `on the demo pictures ${percent(share ?? 0)} agree, and ${percent(leastFor(native))} are needed. ` +
      (isOnGpu(native)
        ? 'Run it on the CPU: LATTICE_DEVICE=cpu.'
        : 'Run it in full precision: LATTICE_PRECISION=f32.') +
      (engineFile === null
        ? ''
        : ` If the engine may be damaged, remove ${engineFile} from the folder of engines and start again.`),
  );
}

/** Rounded down: what is too little does not look like enough. */
const percent = (share: number) => `${Math.floor(share * 1_000) / 10} %`;

const nameBeside = (file: string) => `${file}.agreement`;

/** Null where there is none of this very engine. */
async function keptFor(
  digest: string | null,
  folder: string,
  file: string,
): Promise<EngineAgreement | null> {
  const text = await readKept(folder, nameBeside(file));
  try {
    const kept = agreementSchema.parse(JSON.parse(text ?? ''));
    return kept.engine === digest ? kept : null;
  } catch {
    return null;
  }
}

/** Null where the file cannot be read. */
async function digestOf(path: string): Promise<string | null> {
  const hash = createHash('sha256');
  return pipeline(createReadStream(path, { highWaterMark: 2 ** 20 }), hash).then(
    () => hash.digest('hex'),
    () => null,
  );
}
