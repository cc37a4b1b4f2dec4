/** Makes an INT8 copy of a model with a Python library in a separate environment, and compares it on the user's photos. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { PACKAGE_ROOT, type Config } from '../../config.js';
import { ModelFolder, withSuffix } from '../../models/model-folder.js';
import { compareModels, type ModelComparison } from '../../models/model-examination.js';
import { pythonEnvironment, runProgram } from '../python-environment.js';
import { renderTable } from '../table.js';
import { EXIT_FAILED, type Terminal } from '../terminal.js';
import { copyWhole } from './installing.js';
import { ownPictures } from './pictures.js';

const RECIPE = join(PACKAGE_ROOT, 'models', 'quantize', 'quantize.py');
/** Times as fast as the best other precision. A smaller gain is no reason to change the answers. */
const LEAST_SPEEDUP = 1.25;
/** How much less than the machine's own choice it may agree with full precision. */
const AGREEMENT_MARGIN = 0.03;

const TOOLS = {
  name: 'quantize',
  what: 'the quantisation tools',
  files: ['models/quantize/requirements.txt'],
};

export interface QuantizeRequest {
  name: string;
  images: string;
  count: number;
  makeDefault: boolean;
}

/** Path of the Python that quantises. */
export function quantizePython(report: (line: string) => void): Promise<string> {
  return pythonEnvironment(TOOLS, report);
}

/** Exit code 1 when `makeDefault` was asked for and refused. */
export async function quantizeModel(
  request: QuantizeRequest,
  config: Config,
  terminal: Terminal,
): Promise<void> {
  const folder = await ModelFolder.open(config);
  const original = await folder.find(withSuffix(request.name));
  const images = resolve(request.images);
  const { pictures } = await ownPictures(images);
  const python = await quantizePython((line) => {
    terminal.err(line);
  });
  const scratch = await mkdtemp(join(tmpdir(), 'lattice-quantize-'));
  try {
    const made = join(scratch, 'int8.onnx');
    const count = String(request.count);
    await runProgram(python, [RECIPE, original.path, made, '--images', images, '--count', count]);
    const comparison = await compareModels(original.path, made, {
      threads: config.threads,
      pictures,
    });
    for (const line of table(comparison)) terminal.out(line);
    const stem = original.name.replace(/\.pt$/, '');
    await copyWhole(made, join(config.modelsDir, `${stem}-int8.onnx`));
    terminal.out(`\nInstalled as "model_name": "${stem}-int8.pt".`);
    const reason = refusal(comparison);
    if (reason === null) terminal.out('It is faster and agrees: worth using on this machine.');
    else terminal.out(`Not worth using on this machine: ${reason}.`);
    if (!request.makeDefault) return;
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

/** Why the copy should not replace the original; null when it should. */
export function refusal(comparison: ModelComparison): string | null {
  const { exact, fast, candidate, fastAgreement, candidateAgreement } = comparison;
  const best = Math.min(exact.inferenceMs, fast.inferenceMs);
  if (candidateAgreement === null) return 'there was no box on the photos to compare';
  const least = (fastAgreement ?? 1) - AGREEMENT_MARGIN;
  if (candidateAgreement < least) {
    return `it agrees on ${percent(candidateAgreement)} of the boxes, ${percent(least)} are needed`;
  }
  if (candidate.inferenceMs * LEAST_SPEEDUP > best) {
    const needed = `${LEAST_SPEEDUP} times as fast is needed`;
    return `it takes ${ms(candidate.inferenceMs)}, the original ${ms(best)}; ${needed}`;
  }
  return null;
}

function table(comparison: ModelComparison): string[] {
  const { pictures, exact, fast, candidate, fastAgreement, candidateAgreement } = comparison;
  const row = (name: string, run: typeof exact, share: number | null) => [
    name,
    ms(run.inferenceMs),
    String(run.boxes.flat().length),
    share === null ? '' : percent(share),
  ];
  return renderTable([
    ['PRECISION', 'TIME', `BOXES ON ${pictures} PHOTOS`, 'AGREES WITH F32'],
    row(exact.precision, exact, null),
    ...(fast.precision === exact.precision ? [] : [row(fast.precision, fast, fastAgreement)]),
    row('int8', candidate, candidateAgreement),
  ]);
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
const ms = (value: number) => `${value.toFixed(1)} ms`;
