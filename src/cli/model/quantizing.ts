/** Makes an INT8 copy of a model with a Python library in a separate environment, and compares it on the user's photos. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { PACKAGE_ROOT } from '../../base/package.js';
import type { Config } from '../../settings/config.js';
import { ModelFolder, withSuffix } from '../../models/model-folder.js';
import {
  compareModels,
  type ModelComparison,
  type PrecisionRun,
} from '../../models/model-examination.js';
import { describeModel } from '../../native/core.js';
import { pythonEnvironment, runProgram } from '../python-environment.js';
import { renderTable } from '../output-text.js';
import { EXIT_FAILED, type Terminal } from '../terminal.js';
import { copyWhole } from './models-folder.js';
import { labelledPictures, ownPictures } from './pictures.js';

const RECIPE = join(PACKAGE_ROOT, 'models', 'quantize', 'quantize.py');
/** Times as fast as the best other precision. A smaller gain is no reason to change the answers. */
const LEAST_SPEEDUP = 1.25;
/** How much less than the machine's own choice it may agree with full precision. */
const AGREEMENT_MARGIN = 0.03;
/** How much of full precision's mAP50-95 on labelled photos it may lose. */
const PRECISION_MARGIN = 0.005;

const TOOLS = {
  name: 'quantize',
  what: 'the quantisation tools',
  files: ['models/quantize/requirements.txt'],
};

export interface QuantizeFlags {
  images: string;
  /** Folder of label files in YOLO form. */
  labels?: string;
  count: number;
  default?: boolean;
}

/** Path of the Python that quantises. */
export function quantizePython(report: (line: string) => void): Promise<string> {
  return pythonEnvironment(TOOLS, report);
}

/** Exit code 1 when `default` was asked for and refused. */
export async function quantizeModel(
  name: string,
  flags: QuantizeFlags,
  config: Config,
  terminal: Terminal,
): Promise<void> {
  const folder = await ModelFolder.open(config);
  const original = await folder.find(withSuffix(name));
  const images = resolve(flags.images);
  const { pictures, labels } = await comparedPictures(flags, original.path);
  const python = await quantizePython((line) => {
    terminal.err(line);
  });
  const scratch = await mkdtemp(join(tmpdir(), 'lattice-quantize-'));
  try {
    const made = join(scratch, 'int8.onnx');
    const count = String(flags.count);
    await runProgram(python, [RECIPE, original.path, made, '--images', images, '--count', count]);
    const options = { threads: config.threads, pictures, labels };
    const comparison = await compareModels(original.path, made, options);
    for (const line of table(comparison)) terminal.out(line);
    const stem = original.name.replace(/\.pt$/, '');
    await copyWhole(made, join(config.modelsDir, `${stem}-int8.onnx`));
    terminal.out(`\nInstalled as "model_name": "${stem}-int8.pt".`);
    const reason = refusal(comparison);
    if (reason === null) terminal.out('It is faster and agrees: worth using on this machine.');
    else terminal.out(`Not worth using on this machine: ${reason}.`);
    if (flags.default !== true) return;
    if (reason === null) {
      const standard = folder.defaultName.replace(/\.pt$/, '.onnx');
      await copyWhole(made, join(config.modelsDir, standard));
      terminal.out(`It is the default model now (${folder.defaultName}).`);
    } else {
      terminal.err('The default model stays as it is.');
      terminal.setExitCode(EXIT_FAILED);
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function comparedPictures({ images, labels }: QuantizeFlags, model: string) {
  if (labels === undefined) return { ...(await ownPictures(images)), labels: [] };
  const { names } = await describeModel(model);
  return labelledPictures(images, labels, names);
}

/** Why the copy should not replace the original; null when it should. */
export function refusal(comparison: ModelComparison): string | null {
  const { exact, fast, candidate } = comparison;
  const best = Math.min(exact.inferenceMs, fast.inferenceMs);
  const worse =
    exact.meanPrecision === null || candidate.meanPrecision === null
      ? disagreement(comparison)
      : loss(exact.meanPrecision, candidate.meanPrecision);
  if (worse !== null) return worse;
  if (candidate.inferenceMs * LEAST_SPEEDUP > best) {
    const needed = `${LEAST_SPEEDUP} times as fast is needed`;
    return `it takes ${ms(candidate.inferenceMs)}, the original ${ms(best)}; ${needed}`;
  }
  return null;
}

function loss(exact: number, candidate: number): string | null {
  if (exact - candidate <= PRECISION_MARGIN) return null;
  const figures = `${candidate.toFixed(3)}, the original's ${exact.toFixed(3)}`;
  return `its mAP50-95 is ${figures}; ${PRECISION_MARGIN} less is allowed`;
}

function disagreement({ fastAgreement, candidateAgreement }: ModelComparison): string | null {
  if (candidateAgreement === null) return 'there was no box on the photos to compare';
  const least = (fastAgreement ?? 1) - AGREEMENT_MARGIN;
  if (candidateAgreement >= least) return null;
  return `it agrees on ${percent(candidateAgreement)} of the boxes, ${percent(least)} are needed`;
}

function table(comparison: ModelComparison): string[] {
  const { pictures, exact, fast, candidate, fastAgreement, candidateAgreement } = comparison;
  const isLabelled = exact.meanPrecision !== null;
  const row = (name: string, run: PrecisionRun, share: number | null) => [
    name,
    ms(run.inferenceMs),
    String(run.boxes.flat().length),
    share === null ? '' : percent(share),
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

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
const ms = (value: number) => `${value.toFixed(1)} ms`;
