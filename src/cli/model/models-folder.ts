/** Lists the models, puts them into the models folder and takes them out again. */
import { constants, existsSync } from 'node:fs';
import { access, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { faultOf, isPathError, pathFault } from '../../base/path-fault.js';
import {
  defaultModelName,
  ModelFolder,
  releaseOf,
  withSuffix,
  type ModelFile,
} from '../../models/model-folder.js';
import { eightBitPath } from '../../models/eight-bit-copy.js';
import { thresholdOf } from '../../models/own-threshold.js';
import { describeModel } from '../../native/core.js';
import type { Config } from '../../settings/config.js';
import { modelsFolderFault } from '../../settings/setting-folders.js';
import { megabytes, renderTable, shorten } from '../output-text.js';
import { onUserPath, Refusal, UsageError, type Terminal } from '../terminal.js';
import { examineFile, nextCalls, onnxFile, report } from './checking.js';
import { withDescribedCopy, type ModelDescription } from './described-copy.js';
import { copyModel } from './model-copy.js';

/** Below this part of common boxes the faster precision is not to be trusted with a model. */
const LEAST_AGREEMENT = 0.9;

export interface AddFlags extends ModelDescription {
  name?: string;
  force?: boolean;
  /** See `CheckFlags`. */
  images?: string;
}

/**
 * Rejects with `UsageError` for what is no ONNX file, with `Refusal` for one that the service could not run and a name
 * that is taken.
 */
export async function addModel(
  file: string,
  flags: AddFlags,
  config: Config,
  terminal: Terminal,
): Promise<void> {
  const path = await onnxFile(file);
  const modelName = nameOf(flags.name ?? basename(path, '.onnx'));
  const target = join(config.modelsDir, `${modelName}.onnx`);
  if (flags.force !== true && existsSync(target)) {
    throw new Refusal(`${target} exists. --force replaces it, --name picks another name.`);
  }
  await checkFolder(config.modelsDir);
  const examination = await withDescribedCopy(path, flags, async (described) => {
    const examined = await examineFile(described, flags, config, terminal);
    await copyModel(described, target);
    return examined;
  });
  for (const line of report(path, examination)) terminal.out(line);
  if (examination.agreement !== null && examination.agreement < LEAST_AGREEMENT) {
    terminal.err(
      `The precisions differ on more than ${100 - LEAST_AGREEMENT * 100} % of the boxes; ` +
        'LATTICE_PRECISION=f32 runs this model as it was exported.',
    );
  }
  const called = `${modelName}.pt`;
  const standing = called === defaultModelName(config) ? ', the default model' : '';
  terminal.out(`\nInstalled as ${target}: requests name it "model_name": "${called}"${standing}.`);
  terminal.out(
    'A running service takes it within seconds, at once by `lattice model reload`, which says why where it cannot.',
  );
  for (const line of nextCalls(modelName, examination, config)) terminal.out(line);
}

export async function removeModel(name: string, config: Config, terminal: Terminal): Promise<void> {
  const folder = await ModelFolder.open(config);
  const found = await folder.find(withSuffix(name));
  if (found.bundled) throw new Refusal(`${found.name} is bundled and stays.`);
  await onUserPath(found.path, 'write', rm(found.path));
  await onUserPath(found.path, 'write', rm(eightBitPath(found.path), { force: true }));
  terminal.out(
    `Removed ${found.path}. A running service forgets it within seconds; running jobs finish on it.`,
  );
}

function nameOf(text: string): string {
  const name = text.replace(/\.(pt|onnx)$/, '');
  if (/^[A-Za-z0-9._-]{1,120}$/.test(name) && !name.startsWith('.')) return name;
  throw new UsageError(
    `'${text}' is no model name: letters, digits, '.', '_' and '-' only. --name picks another one.`,
  );
}

/**
 * Checked before minutes are spent on the model. Rejects with `UsageError` for a target that exists and cannot be
 * written.
 */
async function checkFolder(folder: string): Promise<void> {
  await access(folder, constants.W_OK | constants.X_OK).catch((error: unknown) => {
    if (isPathError(error) && error.code === 'ENOENT') return;
    throw new UsageError(pathFault(error, folder, 'write'));
  });
}

export async function listModels(config: Config, json: boolean, terminal: Terminal): Promise<void> {
  const folder = await ModelFolder.open(config);
  const fault = await modelsFolderFault(config.modelsDir);
  if (isPathError(fault) && fault.code !== 'ENOENT') {
    terminal.err(`${faultOf(fault)} Only the bundled models are shown.`);
  }
  const rows = await Promise.all((await folder.list()).map((file) => describe(file, folder)));
  if (json) {
    terminal.out(JSON.stringify(rows, null, 2));
    return;
  }
  const header = ['NAME', 'FROM', 'SIZE', 'CLASSES', 'THRESHOLD', 'LICENCE'];
  const cells = rows.map((row) => [
    row.is_default ? `${row.name} (default)` : row.name,
    sourceOf(row),
    megabytes(row.bytes),
    shorten(row.classes),
    String(row.confidence_threshold),
    row.licence ?? 'not stated',
  ]);
  for (const line of renderTable([header, ...cells])) terminal.out(line);
}

/** The default name stands for a bundled model until there is a file of that name. */
function sourceOf({ bundled, alias_of: alias, release }: ModelRow): string {
  if (!bundled) return 'models folder';
  return alias === null ? 'bundled' : `bundled: ${[alias, release].filter(Boolean).join(' ')}`;
}

type ModelRow = Awaited<ReturnType<typeof describe>>;

const UNKNOWN = { names: [], metadata: {} as Record<string, string> };

async function describe(file: ModelFile, folder: ModelFolder) {
  // `lattice model check` says what is wrong with a file; the list still names it.
  const { names, metadata } = await describeModel(file.path).catch(() => UNKNOWN);
  return {
    name: file.name,
    path: file.path,
    bundled: file.bundled,
    alias_of: file.aliasOf,
    release: releaseOf(file, metadata),
    is_default: file.name === folder.defaultName,
    bytes: (await stat(file.path)).size,
    classes: names,
    licence: file.licence ?? metadata.license ?? null,
    confidence_threshold: thresholdOf(metadata),
  };
}
