/** Loads a model as the service would and says what it found. */
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PACKAGE_ROOT, type Config } from '../../config.js';
import { ModelFolder } from '../../models/model-folder.js';
import { LatticeError } from '../../errors.js';
import { readPicture } from '../../models/self-check/model-check.js';
import { examineModel, type ModelExamination } from '../../models/model-examination.js';
import { megabytes } from '../megabytes.js';
import { renderTable } from '../table.js';
import { UsageError, type Terminal } from '../terminal.js';
import { shorten } from './listing.js';

const DEMO = join(PACKAGE_ROOT, 'models', 'demo');

export async function checkModel(
  model: string,
  config: Config,
  json: boolean,
  terminal: Terminal,
): Promise<void> {
  const path = model.endsWith('.onnx')
    ? resolve(model)
    : (await (await ModelFolder.open(config)).find(withEnding(model))).path;
  const examination = await examineFile(path, config);
  if (json) terminal.out(JSON.stringify(asJson(path, examination), null, 2));
  else for (const line of report(path, examination)) terminal.out(line);
}

/** `depot` and `depot.pt` name the same model. */
export function withEnding(name: string): string {
  return name.endsWith('.pt') ? name : `${name}.pt`;
}

/** Throws `UsageError` saying what is wrong with the file. */
export async function examineFile(path: string, config: Config): Promise<ModelExamination> {
  const names = (await readdir(DEMO)).filter((name) => /\.(jpg|png)$/.test(name)).sort();
  const pictures = await Promise.all(names.map((name) => readPicture(join(DEMO, name))));
  try {
    return await examineModel(path, { threads: config.threads, pictures });
  } catch (error) {
    if (!(error instanceof LatticeError)) throw error;
    throw new UsageError(`${path} cannot be used: ${error.message}`);
  }
}

export function report(
  path: string,
  { bytes, model, runs, agreement }: ModelExamination,
): string[] {
  const facts = [
    ['file', `${path}, ${megabytes(bytes)}`],
    ['task', 'detect, v8 layout'],
    ['classes', `${model.names.length}: ${shorten(model.names)}`],
    ['input', `${model.inputWidth} x ${model.inputHeight}, ${batch(model.fixedBatch)}`],
    ['licence', model.metadata.license ?? 'not stated'],
    ...runs.map(({ precision, inferenceMs, boxes }) => [
      precision,
      `${inferenceMs.toFixed(1)} ms an image, ${boxes.flat().length} boxes on ${boxes.length} demo pictures`,
    ]),
    ['agreement', agreed(runs.length, agreement)],
  ];
  return renderTable(facts);
}

function batch(fixed: number): string {
  return fixed === 0 ? 'any batch' : `batches of ${fixed}`;
}

function agreed(precisions: number, share: number | null): string {
  if (precisions === 1) return 'this CPU has one precision';
  if (share === null)
    return 'no box on the demo pictures to compare; the classes may not be on them';
  return `${(share * 100).toFixed(1)} % of the boxes above 0.3 are found by both precisions (IoU 0.8)`;
}

function asJson(path: string, { bytes, model, runs, agreement }: ModelExamination) {
  return {
    path,
    bytes,
    classes: model.names,
    input: { width: model.inputWidth, height: model.inputHeight },
    fixed_batch: model.fixedBatch,
    licence: model.metadata.license ?? null,
    runs: runs.map(({ precision, inferenceMs, boxes }) => ({
      precision,
      inference_ms: inferenceMs,
      boxes: boxes.map((picture) => picture.length),
    })),
    agreement,
  };
}
