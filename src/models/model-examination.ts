/** Examines a model file: what it contains, and what it does on this machine. */
import { basename } from 'node:path';
import { LatticeError } from '../api/errors.js';
import type { FloatPrecision } from '../api/schemas/model.js';
import type { NativeModel } from '../native/contract.js';
import { gpuLimits, readModel, type Core } from '../native/core.js';
import { agreementOf, shareOrNull } from '../boxes/agreement.js';
import { meanAveragePrecision, type LabelledBox } from '../boxes/average-precision.js';
import { pairBoxes, type PairingRule } from '../boxes/pairing.js';
import { openCpuCore } from './cpu-core.js';
import { faultOfLayout } from './self-check/layout-check.js';
import { runOn, type Picture } from './self-check/model-check.js';
import type { Detection } from '../api/schemas/image.js';
import { detectionsFrom } from '../boxes/raw-detections.js';

/** Boxes above this score must be found by every precision. */
export const COMPARED_CONFIDENCE = 0.3;
/** A box near the limit may fall on either side of it. */
const PARTNER_CONFIDENCE = 0.2;
const SAME_BOX: PairingRule = { overlap: 0.8, oneClass: true, scoreGap: Infinity };
/** Looks at each picture: one for the boxes, the others for the time. */
const RUNS = 5;
const RUNS_ON_MANY = 2;
const MANY = 10;

export interface PrecisionRun {
  precision: string;
  /** Median of the network alone over all pictures, milliseconds. */
  inferenceMs: number;
  /** Boxes above 0.3, by picture. */
  boxes: Detection[][];
  /** mAP50-95, 0 to 1; null without labels. */
  meanPrecision: number | null;
}

export interface ModelExamination {
  /** Size of the file and of its weights that lie beside it. */
  bytes: number;
  model: NativeModel;
  /** A sentence for each thing that it could not do on a GPU. */
  gpuLimits: string[];
  /** Full precision first. */
  runs: PrecisionRun[];
  /**
   * Share of the boxes above 0.3 of either precision that the other has too, at IoU 0.8 and the same class; null with
   * one precision, or without boxes.
   */
  agreement: number | null;
}

export interface ExaminationOptions {
  threads: number;
  /** RGB pixels of the demo pictures. */
  pictures: readonly Picture[];
  /** Labelled boxes by picture. */
  labels?: readonly LabelledBox[][];
  /** Called with the next step, such as `Compiling for f32`. */
  onStep?: (step: string) => void;
}

/** Rejects with `unknown_model` or `invalid_model`, saying what was found and what is needed. */
export async function examineModel(
  path: string,
  options: ExaminationOptions,
): Promise<ModelExamination> {
  const exact = await examineIn('f32', path, options);
  const half = await examineInBf16(path, options);
  if (exact.blind && exact.model.layout !== 'final') {
    throw new LatticeError(
      'invalid_model',
      'It detects nothing: every score on the pictures is 0.',
    );
  }
  const { length: bytes } = await readModel(path);
  return {
    bytes,
    model: exact.model,
    gpuLimits: await gpuLimits(path),
    runs: half === null ? [exact.run] : [exact.run, half.run],
    agreement: half === null ? null : agreement(exact.look, half.look),
  };
}

/**
 * Requested explicitly, because `auto` may choose f32. Null on a CPU without it, and for a model that runs in f32 only.
 */
async function examineInBf16(path: string, options: ExaminationOptions): Promise<Examined | null> {
  try {
    const examined = await examineIn('bf16', path, options);
    return examined.run.precision === 'bf16' ? examined : null;
  } catch (error) {
    // The file is good: it has run in f32. What is refused is the precision.
    if (error instanceof LatticeError && error.code === 'invalid_model') return null;
    throw error;
  }
}

export interface ModelComparison {
  pictures: number;
  /** Runs of the original in full precision and in the fastest that this machine chooses, and of the other model. */
  exact: PrecisionRun;
  fast: PrecisionRun;
  candidate: PrecisionRun;
  /** Agreements like `ModelExamination.agreement`, each with the original in full precision. */
  fastAgreement: number | null;
  candidateAgreement: number | null;
}

/** How a model made from another one (quantised, pruned) compares with it. Rejects as `examineModel`. */
export async function compareModels(
  original: string,
  candidate: string,
  options: ExaminationOptions,
): Promise<ModelComparison> {
  const exact = await examineIn('f32', original, options);
  const fast = await examineIn('auto', original, options);
  const other = await examineIn('auto', candidate, options);
  return {
    pictures: options.pictures.length,
    exact: exact.run,
    fast: fast.run,
    candidate: other.run,
    fastAgreement: agreement(exact.look, fast.look),
    candidateAgreement: agreement(exact.look, other.look),
  };
}

export interface ComparedRun extends PrecisionRun {
  /** Boxes above 0.2, by picture: those that may be partners of another model's boxes. */
  partners: Detection[][];
}

/** Runs one model in the way that the service would run it here. Rejects with the errors of `examineModel`. */
export async function runModel(path: string, options: ExaminationOptions): Promise<ComparedRun> {
  const { run, look } = await examineIn('auto', path, options);
  return { ...run, partners: look };
}

interface Examined {
  model: NativeModel;
  run: PrecisionRun;
  /** All boxes that may match a box of the other model, by picture. */
  look: Detection[][];
  blind: boolean;
}

async function examineIn(
  precision: FloatPrecision,
  path: string,
  { threads, pictures, labels = [], onStep }: ExaminationOptions,
): Promise<Examined> {
  const core = openCpuCore({ precision, threads });
  try {
    const shown = precision === 'auto' ? 'the fastest precision' : precision;
    onStep?.(`Compiling ${basename(path)} for ${shown}`);
    const model = await core.loadModel(path);
    onStep?.(`Running it on ${pictures.length} picture(s) in ${model.precision}`);
    const runs = pictures.length > MANY ? RUNS_ON_MANY : RUNS;
    const times: number[] = [];
    const all: Detection[][] = [];
    for (const picture of pictures) {
      await refuseOtherLayout(picture, model, core);
      for (let run = 0; run < runs; run += 1) {
        const { boxes, timings } = await runOn(picture, model, core);
        if (run > 0) times.push(timings.inference);
        else all.push(detectionsFrom(boxes, model.names));
      }
    }
    const above = (least: number) =>
      all.map((boxes) => boxes.filter(({ confidence }) => confidence > least));
    times.sort((a, b) => a - b);
    return {
      model,
      run: {
        precision: model.precision,
        inferenceMs: times[times.length >> 1] ?? 0,
        boxes: above(COMPARED_CONFIDENCE),
        meanPrecision: meanAveragePrecision(all, labels),
      },
      look: above(PARTNER_CONFIDENCE),
      blind: all.every((boxes) => boxes.length === 0),
    };
  } finally {
    await core.close();
  }
}

async function refuseOtherLayout(
  picture: Picture,
  model: NativeModel,
  core: Pick<Core, 'run'>,
): Promise<void> {
  const fault = await faultOfLayout(
    model,
    async () => (await runOn(picture, model, core, { everyRow: true })).boxes,
  );
  if (fault !== null) {
    throw new LatticeError('invalid_model', `The self-check on a picture fails: ${fault}.`);
  }
}

/** Null without a box above 0.3 on either side. */
function agreement(one: readonly Detection[][], other: readonly Detection[][]): number | null {
  const pictures = one.map((boxes, picture) => ({
    picture,
    boxes: pairBoxes(boxes, other[picture] ?? [], SAME_BOX),
  }));
  return shareOrNull(agreementOf(pictures, COMPARED_CONFIDENCE, false));
}
