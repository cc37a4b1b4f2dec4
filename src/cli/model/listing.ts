/** The models that requests can name. */
import { stat } from 'node:fs/promises';
import type { Config } from '../../settings/config.js';
import { ModelFolder, type ModelFile } from '../../models/model-folder.js';
import { describeModel } from '../../native/core.js';
import { megabytes } from '../megabytes.js';
import { renderTable } from '../table.js';
import { faultOf, isPathError } from '../../base/path-fault.js';
import { modelsFolderFault } from '../../settings/setting-folders.js';
import type { Terminal } from '../terminal.js';

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
  const header = ['NAME', 'FROM', 'SIZE', 'CLASSES', 'LICENCE'];
  const cells = rows.map((row) => [
    row.is_default ? `${row.name} (default)` : row.name,
    row.bundled ? 'bundled' : 'models folder',
    megabytes(row.bytes),
    shorten(row.classes),
    row.licence ?? 'not stated',
  ]);
  for (const line of renderTable([header, ...cells])) terminal.out(line);
}

const UNKNOWN = { names: [], metadata: {} as Record<string, string> };

async function describe(file: ModelFile, folder: ModelFolder) {
  // `lattice model check` says what is wrong with a file; the list still names it.
  const { names, metadata } = await describeModel(file.path).catch(() => UNKNOWN);
  return {
    name: file.name,
    path: file.path,
    bundled: file.bundled,
    is_default: file.name === folder.defaultName,
    bytes: (await stat(file.path)).size,
    classes: names,
    licence: file.licence ?? metadata.license ?? null,
  };
}

const SHOWN_CLASSES = 5;

export function shorten(classes: readonly string[]): string {
  if (classes.length === 0) return 'unknown';
  const more = classes.length - SHOWN_CLASSES;
  return classes.slice(0, SHOWN_CLASSES).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
