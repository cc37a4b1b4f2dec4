/** Executes a notebook of `edge/notebooks` as JupyterLab would, and what its cells left behind. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { runProgram } from '../../src/cli/python-environment.js';
import { PROJECT_ROOT } from '../support/service-process.js';

export interface CellOutput {
  output_type: 'stream' | 'display_data' | 'execute_result' | 'error';
  text?: string[];
  data?: Record<string, string | string[]>;
}

export interface Cell {
  cell_type: 'code' | 'markdown';
  execution_count: number | null;
  source: string[];
  outputs?: CellOutput[];
}

export interface Executed {
  /** The notebook with its outputs, in a temporary folder; open it with JupyterLab. */
  path: string;
  cells: Cell[];
  /** Everything printed and shown as text. */
  text: string;
  pictures: Buffer[];
}

/** Where Python finds `lattice_edge` and `lattice_client`. */
export const EDGE_PACKAGES = ['edge', 'clients/python']
  .map((folder) => join(PROJECT_ROOT, folder))
  .join(delimiter);

export const notebookPath = (name: string) => join(PROJECT_ROOT, 'edge/notebooks', name);

export function readCells(path: string): Cell[] {
  return (JSON.parse(readFileSync(path, 'utf8')) as { cells: Cell[] }).cells;
}

/** Rejects with the failed cell and its error. `variables` are the settings of the edge node. */
export async function executeNotebook(
  name: string,
  python: string,
  variables: Record<string, string>,
  secondsPerCell = 120,
): Promise<Executed> {
  const path = join(mkdtempSync(join(tmpdir(), 'lattice-notebook-')), name);
  const script = join(PROJECT_ROOT, 'test/edge/execute_notebook.py');
  const kept = Object.entries(process.env).filter(([key]) => !key.startsWith('LATTICE_'));
  const environment = { ...Object.fromEntries(kept), PYTHONPATH: EDGE_PACKAGES, ...variables };
  const args = ['-B', script, notebookPath(name), path, String(secondsPerCell)];
  await runProgram(python, args, environment);
  const cells = readCells(path);
  const outputs = cells.flatMap((cell) => cell.outputs ?? []);
  const pictures = outputs.flatMap(({ data }) => data?.['image/png'] ?? []);
  return {
    path,
    cells,
    text: outputs.flatMap(({ text, data }) => text ?? data?.['text/plain'] ?? []).join(''),
    pictures: pictures.map((base64) => Buffer.from(base64, 'base64')),
  };
}
