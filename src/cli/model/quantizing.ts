/**
 * Makes an INT8 copy of a model with a Python library in a separate environment, and compares it on the user's photos.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { PACKAGE_ROOT } from '../../base/package.js';
import type { Config } from '../../settings/config.js';
import { ModelFolder, withSuffix } from '../../models/model-folder.js';
import {
  compareModels,
  type ModelComparison,
  type PrecisionRun,
} from '../../models/model-examination.js';
import {
  eightBitPath,
  isProven,
  MOST_LOST,
  PROOF_KEY,
  type EightBitProof,
} from '../../models/eight-bit-copy.js';
import { describeModel } from '../../native/core.js';
import { pythonEnvironment, runProgram } from '../python-environment.js';
import { renderTable } from '../output-text.js';
import { Refusal, type Terminal } from '../terminal.js';
import { sharePercent } from './agreement-lines.js';
import { appendMetadata } from './append-metadata.js';
import { copyModel } from './model-copy.js';
import { labelledPictures, ownPictures } from './pictures.js';

const RECIPE = join(PACKAGE_ROOT, 'models', 'quantize', 'quantize.py');
/**
 * The limit that the engine has too (native/cpu/cpu_precision.h): a smaller gain is no reason to change the answers.
 */
const LEAST_SPEEDUP = 1.15;
/**
 * How much lower the agreement with full precision may be than that of the machine's own choice, if no photo is
 * labelled.
 */
const AGREEMENT_MARGIN = 0.03;

/** Convolutions whose cost is shown. */
const COSTLIEST = 10;

const TOOLS = {
  name: 'quantize',
  what: 'the quantisation tools',
  files: ['models/quantize/requirements.txt'],
};

export interface QuantizeFlags {
  /** Photos to calibrate on. */
  images: string;
  count: number;
  /** Photos to compare on, those of `images` when left out. */
  compare?: string;
  /** Folder of label files in YOLO form, for the photos to compare on. */
  labels?: string;
}

/** Path of the Python that quantises. */
export function quantizePython(report: (line: string) => void): Promise<string> {
  return pythonEnvironment(TOOLS, report);
}

export async function quantizeModel(
  name: string,
  flags: QuantizeFlags,
  config: Config,
  terminal: Terminal,
): Promise<void> {
  const original = await (await ModelFolder.open(config)).find(withSuffix(name));
  if (original.bundled) {
    throw new Refusal(
      `${original.name} is bundled. Install it under a name first: lattice model add ${original.path} --name depot.`,
    );
  }
  const { pictures, labels } = await comparedPictures(flags, original.path);
  const python = await quantizePython((line) => {
    terminal.err(line);
  });
  const scratch = await mkdtemp(join(tmpdir(), 'lattice-quantize-'));
  try {
    const made = join(scratch, 'int8.onnx');
    // The copy names the digest of what it was made from, weights in files beside it included.
    const whole = join(scratch, basename(original.path));
    await copyModel(original.path, whole);
    const calibration = ['--images', resolve(flags.images), '--count', String(flags.count)];
    const printed = await runProgram(python, [RECIPE, whole, made, ...calibration]);
    for (const line of printed.split('\n').slice(0, 1 + COSTLIEST)) terminal.out(line);
    terminal.out('');
    const options = { threads: config.threads, pictures, labels };
    const comparison = await compareModels(original.path, made, options);
    for (const line of table(comparison)) terminal.out(line);
    const proof = proofOf(comparison);
    if (proof !== null) await appendMetadata(made, PROOF_KEY, JSON.stringify(proof));
    const copy = eightBitPath(original.path);
    await copyModel(made, copy);
    terminal.out(`\nInstalled as ${copy}: ${original.name} runs it with LATTICE_PRECISION=int8.`);
    const reason = refusal(comparison);
    terminal.out(
      reason === null
        ? 'LATTICE_PRECISION=auto, the default, takes it from the next start on, where it is faster.'
        : `LATTICE_PRECISION=auto, the default, does not take it here: ${reason}.`,
    );
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function comparedPictures({ images, compare, labels }: QuantizeFlags, model: string) {
  const shown = compare ?? images;
  if (labels === undefined) return { ...(await ownPictures(shown)), labels: [] };
  const { names } = await describeModel(model);
  return labelledPictures(shown, labels, names);
}

/** Null without labels. */
function proofOf({ pictures, exact, candidate }: ModelComparison): EightBitProof | null {
  const { meanPrecision: f32 } = exact;
  const { meanPrecision: int8 } = candidate;
  return f32 === null || int8 === null ? null : { photos: pictures, f32, int8 };
}

/** Why `auto` leaves the copy aside on this machine; null where it takes it. */
export function refusal(comparison: ModelComparison): string | null {
  const { exact, fast, candidate } = comparison;
  const proof = proofOf(comparison);
  const worse = proof === null ? disagreement(comparison) : loss(proof);
  if (worse !== null) return worse;
  const best = Math.min(exact.inferenceMs, fast.inferenceMs);
  if (candidate.inferenceMs * LEAST_SPEEDUP > best) {
    const needed = `${LEAST_SPEEDUP} times as fast is needed`;
    return `it takes ${ms(candidate.inferenceMs)}, the original ${ms(best)}; ${needed}`;
  }
  if (proof === null) return 'it was compared on photos without labels (--labels)';
  return null;
}

function loss(proof: EightBitProof): string | null {
  if (isProven({ proof })) return null;
  const { f32, int8 } = proof;
  const figures = `${int8.toFixed(3)}, the original's ${f32.toFixed(3)}`;
  return `its mAP50-95 is ${figures}; ${MOST_LOST} less is allowed`;
}

function disagreement({ fastAgreement, candidateAgreement }: ModelComparison): string | null {
  if (candidateAgreement === null) return 'there was no box on the photos to compare';
  const least = (fastAgreement ?? 1) - AGREEMENT_MARGIN;
  if (candidateAgreement >= least) return null;
  return `it agrees on ${sharePercent(candidateAgreement)} of the boxes, ${sharePercent(least)} are needed`;
}

function table(comparison: ModelComparison): string[] {
  const { pictures, exact, fast, candidate, fastAgreement, candidateAgreement } = comparison;
  const isLabelled = exact.meanPrecision !== null;
  const row = (name: string, run: PrecisionRun, share: number | null) => [
    name,
    ms(run.inferenceMs),
    String(run.boxes.flat().length),
    share === null ? '' : sharePercent(share),
    ...(run.meanPrecision === null ? [] : [run.meanPrecision.toFixed(3)]),
  ];
  const title = ['PRECISION', 'TIME', `BOXES ON ${pictures} PHOTOS`, 'AGREES WITH F32'];
  return renderTable([
    isLabelled ? [...title, 'MAP50-95'] : title,
    row(exact.precision, exact, null),
    ...(fast.precision === exact.precision ? [] : [row(fast.precision, fast, fastAgreement)]),
    row('int8', candidate, candidateAgreement),
  ]);
}

const ms = (value: number) => `${value.toFixed(1)} ms`;
