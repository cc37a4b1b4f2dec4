/** Puts models into the models folder and takes them out again. */
import { constants } from 'node:fs';
import { access, copyFile, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { basename, extname, join, resolve } from 'node:path';
import type { Config } from '../../config.js';
import { defaultModelName, ModelFolder } from '../../models/model-folder.js';
import { UsageError, type Terminal } from '../terminal.js';
import { examineFile, report, withEnding } from './checking.js';

/** Below this part of common boxes the faster precision is not to be trusted with a model. */
const LEAST_AGREEMENT = 0.9;

export interface NewModel {
  file: string;
  name: string | undefined;
  force: boolean;
}

/** Throws `UsageError` for a file that the service could not run, and for a name that is taken. */
export async function addModel(
  { file, name, force }: NewModel,
  config: Config,
  terminal: Terminal,
): Promise<void> {
  const path = resolve(file);
  if (!(await isFile(path))) throw new UsageError(`There is no file ${path}.`);
  refuseCheckpoint(path);
  const modelName = nameOf(name ?? basename(path, '.onnx'));
  const target = join(config.modelsDir, `${modelName}.onnx`);
  if (!force && (await isFile(target))) {
    throw new UsageError(`${target} exists. --force replaces it, --name picks another name.`);
  }
  const examination = await examineFile(path, config);
  for (const line of report(path, examination)) terminal.out(line);
  if (examination.agreement !== null && examination.agreement < LEAST_AGREEMENT) {
    terminal.err(
      `The precisions differ on more than ${100 - LEAST_AGREEMENT * 100} % of the boxes; ` +
        'LATTICE_PRECISION=f32 runs this model as it was exported.',
    );
  }
  await copyWhole(path, target);
  const called = `${modelName}.pt`;
  const standing = called === defaultModelName(config) ? ', the default model' : '';
  terminal.out(`\nInstalled as ${target}: requests name it "model_name": "${called}"${standing}.`);
  terminal.out('A running service finds it at the next request that names it.');
}

export async function removeModel(name: string, config: Config, terminal: Terminal): Promise<void> {
  const folder = await ModelFolder.open(config);
  const found = await folder.find(withEnding(name));
  if (found.bundled) throw new UsageError(`${found.name} is bundled and stays.`);
  await rm(found.path);
  terminal.out(`Removed ${found.path}. A running service keeps what it has loaded until it stops.`);
}

function refuseCheckpoint(path: string): void {
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

function nameOf(text: string): string {
  const name = text.replace(/\.(pt|onnx)$/, '');
  if (/^[A-Za-z0-9._-]{1,120}$/.test(name) && !name.startsWith('.')) return name;
  throw new UsageError(
    `'${text}' is no model name: letters, digits, '.', '_' and '-' only. --name picks another one.`,
  );
}

/** Whole or not at all, also when the machine stops in between; makes the folder. */
export async function copyWhole(from: string, to: string): Promise<void> {
  const folder = resolve(to, '..');
  await mkdir(folder, { recursive: true });
  await access(folder, constants.W_OK).catch(() => {
    throw new UsageError(`${folder} cannot be written to.`);
  });
  const partial = join(folder, `.${basename(to)}.${process.pid}`);
  try {
    await copyFile(from, partial);
    const file = await open(partial, 'r');
    await file.sync().finally(() => file.close());
    await rename(partial, to);
  } finally {
    await rm(partial, { force: true });
  }
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isFile(),
    () => false,
  );
}
