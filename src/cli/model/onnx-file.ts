/** A model file that the user names by its path. */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { pathFault } from '../../base/path-fault.js';
import { UsageError } from '../terminal.js';

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
