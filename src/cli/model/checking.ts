/** Loads a model as the service would, says what it found, and what to do with the model next. */
import { basename, extname, resolve, sep } from 'node:path';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { pathFault } from '../../base/path-fault.js';
import { DEFAULT_SERVICE_URL } from '../../client/lattice-client.js';
import { DEFAULT_VEHICLES } from '../../api/options.js';
import { ClassFilter } from '../../models/class-filter.js';
import { examineModel, type ModelExamination } from '../../models/model-examination.js';
import { thresholdOf } from '../../models/own-threshold.js';
import { ModelFolder, withSuffix } from '../../models/model-folder.js';
import type { NativeModel } from '../../native/contract.js';
import { readInKnownLayout } from '../../native/core.js';
import { loadConfig, serviceAccess, type Config } from '../../settings/config.js';
import { classesText, megabytes, renderTable, shorten } from '../output-text.js';
import { UsageError, type Terminal } from '../terminal.js';
import { sharePercent } from './agreement-lines.js';
import { withDescribedCopy, type ModelDescription } from './described-copy.js';
import { copyModel, unusable } from './model-copy.js';
import { demoPictures, ownPictures, type Pictures } from './pictures.js';

export interface CheckFlags extends ModelDescription {
  json?: boolean;
  /** Image, folder or glob of the user; the demo pictures by default. */
  images?: string;
  /** File to which the model is written in the layout that engines read. */
  save?: string;
}

interface Examined extends ModelExamination {
  pictures: Pictures;
}

export async function checkModel(
  model: string,
  flags: CheckFlags,
  config: Config,
  terminal: Terminal,
): Promise<void> {
  const path = await modelPath(model, config);
  const examined = await withDescribedCopy(path, flags, async (described) => {
    const found = await examineFile(described, flags, config, terminal);
    if (flags.save !== undefined) await copyModel(described, flags.save, readInKnownLayout);
    return found;
  });
  if (flags.json === true) {
    terminal.out(JSON.stringify(asJson(path, examined), null, 2));
    return;
  }
  for (const line of report(path, examined)) terminal.out(line);
  const next = isFile(model)
    ? addCall(model, flags)
    : nextCalls(basename(withSuffix(model), '.pt'), examined, config);
  for (const line of next) terminal.out(line);
}

const isFile = (model: string): boolean => model.endsWith('.onnx') || model.includes(sep);

/** Path of an ONNX file, or of a model that `lattice model list` shows. */
export async function modelPath(model: string, config: Config): Promise<string> {
  if (isFile(model)) return onnxFile(model);
  return (await (await ModelFolder.open(config)).find(withSuffix(model))).path;
}

/** Reports its steps on standard error. Throws a `UsageError` that says what is wrong with the file. */
export async function examineFile(
  path: string,
  { images, input }: Pick<CheckFlags, 'images' | 'input'>,
  { threads }: Config,
  terminal: Terminal,
): Promise<Examined> {
  const show = (step: string) => {
    if (terminal.progress === undefined) terminal.err(`${step} ...`);
    else terminal.progress(`${step} ...`);
  };
  show(images === undefined ? 'Reading the demo pictures' : `Reading ${images}`);
  const pictures = images === undefined ? await demoPictures() : await ownPictures(images);
  try {
    const options = { threads, pictures: pictures.pictures, onStep: show };
    const examination = await examineModel(path, options);
    const { inputWidth: width, inputHeight: height } = examination.model;
    if (input !== undefined && (input[0] !== height || input[1] !== width)) {
      throw new UsageError(
        `--input: the sides of ${basename(path)} are fixed at ${width} x ${height}.`,
      );
    }
    return { ...examination, pictures };
  } catch (error) {
    throw unusable(path, error);
  }
}

export function report(path: string, examined: Examined): string[] {
  const { bytes, model, gpuLimits, runs, agreement, pictures } = examined;
  const facts = [
    ['file', `${path}, ${megabytes(bytes)}`],
    ['task', model.task],
    ['classes', `${model.names.length}: ${shorten(model.names)}`],
    ['input', `${model.inputWidth} x ${model.inputHeight}, ${batch(model.fixedBatch)}`],
    ...gpuLimits.map((limit) => ['on a GPU', limit]),
    ['licence', model.metadata.license ?? 'not stated'],
    ['threshold', String(thresholdOf(model.metadata))],
    ...runs.map(({ precision, inferenceMs, boxes }) => [
      precision,
      `${inferenceMs.toFixed(1)} ms an image, ${boxes.flat().length} boxes on ${pictures.what}`,
    ]),
    ['boxes', boxesText(examined)],
    ['agreement', agreed(runs.length, agreement)],
  ];
  return renderTable(facts);
}

function batch(fixed: number): string {
  return fixed === 0 ? 'any batch' : `exported for batches of ${fixed}`;
}

/** The boxes in full precision, counted by class. */
function boxesText({ runs }: Examined): string {
  const counts = new Map<string, number>();
  for (const { class: name } of runs[0]?.boxes.flat() ?? []) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts.size === 0
    ? 'none above 0.3: --images takes pictures of your own'
    : classesText(counts);
}

function agreed(precisions: number, share: number | null): string {
  if (precisions === 1) return 'it runs in one precision here';
  if (share === null) return 'no box on the pictures to compare; the classes may not be on them';
  return `${sharePercent(share)} of the boxes above 0.3 are found by both precisions (IoU 0.8)`;
}

function asJson(path: string, { bytes, model, gpuLimits, runs, agreement }: ModelExamination) {
  return {
    path,
    bytes,
    classes: model.names,
    input: { width: model.inputWidth, height: model.inputHeight },
    fixed_batch: model.fixedBatch,
    gpu_limits: gpuLimits,
    licence: model.metadata.license ?? null,
    confidence_threshold: thresholdOf(model.metadata),
    runs: runs.map(({ precision, inferenceMs, boxes }) => ({
      precision,
      inference_ms: inferenceMs,
      boxes: boxes.map((picture) => picture.length),
    })),
    agreement,
  };
}

interface NextCallParts {
  model: Pick<NativeModel, 'names'>;
  pictures: Pick<Pictures, 'path' | 'served'>;
}

/**
 * `name` without `.pt`. The service must have the same models folder. They ask for all classes where the default,
 * vehicles, would hide most of them.
 */
export function nextCalls(
  name: string,
  { model, pictures: { path, served } }: NextCallParts,
  { modelsDir }: Config,
): string[] {
  const { url = DEFAULT_SERVICE_URL, apiKey } = serviceAccess({});
  const isUsual = modelsDir === loadConfig().modelsDir;
  const key = apiKey === undefined ? '' : ' -H "Authorization: Bearer $LATTICE_API_KEY"';
  const file = quoted(path);
  const isAll = hidesMost(model.names);
  return [
    '',
    'Next:',
    `  lattice detect --model ${name} ${file}${isUsual ? '' : ` --models-dir ${quoted(modelsDir)}`}`,
    `With a running service${isUsual ? '' : ` (LATTICE_MODELS_DIR=${quoted(modelsDir)})`}:`,
    `  curl -s${key} ${url}/v1/inference/detect -F model_name=${name}.pt${isAll ? " -F 'classes=*'" : ''} -F image=@${file}`,
    `  lattice job submit --model ${name}${isAll ? " --classes '*'" : ''} ${quoted(served)}    # beneath its image folders`,
  ];
}

function hidesMost(names: readonly string[]): boolean {
  const shown = new ClassFilter(names).ids(DEFAULT_VEHICLES);
  return shown !== null && 2 * shown.length < names.length;
}

/** The command that adds a file that has not been installed, described as it was for its check. */
function addCall(path: string, { names, input, threshold }: ModelDescription): string[] {
  const described = [
    names === undefined ? '' : ` --names ${quoted(names)}`,
    input === undefined ? '' : ` --input ${[...input].reverse().join('x')}`,
    threshold === undefined ? '' : ` --threshold ${threshold}`,
  ];
  return ['', 'Next:', `  lattice model add ${quoted(path)}${described.join('')}`];
}

function quoted(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Absolute. Rejects with `UsageError` for what is no ONNX file that can be read. */
export async function onnxFile(file: string): Promise<string> {
  const path = resolve(file);
  try {
    const entry = await stat(path);
    if (entry.isDirectory()) throw new UsageError(`${file} is a folder; an ONNX file is needed.`);
    refuseOtherKinds(path);
    await access(path, constants.R_OK);
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(pathFault(error, file, 'read'));
  }
  return path;
}

function refuseOtherKinds(path: string): void {
  if (extname(path) === '.onnx') return;
  if (extname(path) !== '.pt') {
    throw new UsageError(`${path} is no ONNX file: its name must end in .onnx.`);
  }
  throw new UsageError(
    `${path} is a checkpoint, which only the tools that trained it can read. Export it with them:\n\n` +
      `  yolo export model=${path} format=onnx dynamic=True\n\n` +
      `and then: lattice model add ${path.replace(/\.pt$/, '.onnx')}`,
  );
}
