/**
 * The folder of built TensorRT engines as the commands `lattice engine` show it: what the names and the status of the
 * files tell. `native/gpu/engine_cache/engine_key.h` has the names; TensorRT alone reads what the files hold.
 */
import type { Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isPathError } from '../base/path-fault.js';

/** `stale`: of another release. A `foreign` file is not lattice's, or others could write it; it is never touched. */
export type EngineState = 'ready' | 'stale' | 'foreign';

/** The readable parts of a name. */
export interface EngineParts {
  model: string;
  gpu: string;
  /** Compute capability, `9.0`. */
  sm: string;
  tensorrt: string;
  precision: string;
}

export interface StoredEngine {
  /** With its ending `.engine`. */
  name: string;
  state: EngineState;
  /** A sentence for the user; empty when ready. */
  reason: string;
  /** For ready files only. */
  parts: EngineParts | null;
  bytes: number;
  /** Null where the file system does not keep it. */
  builtAt: Date | null;
  lastUsed: Date;
}

export const ENGINE_ENDING = '.engine';

const NAME =
  /^(?<model>[^_]+)_(?<gpu>[^_]*)_sm(?<sm>\d+\.\d+)_trt(?<tensorrt>[^_]+)_(?<precision>[^_]+)_[0-9a-f]{32}\.engine$/;
/** Of earlier releases. */
const NAME_BEFORE = /^[0-9a-f]{12}-[0-9a-f]{8}\.engine$/;

/** By name; empty for a folder that does not exist. */
export async function listStoredEngines(folder: string): Promise<StoredEngine[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (isPathError(error) && error.code === 'ENOENT') return [];
    throw error;
  });
  const engines = names.filter((name) => name.endsWith(ENGINE_ENDING)).sort();
  const files = await Promise.all(
    engines.map(async (name) => {
      const info = await lstat(join(folder, name)).catch(() => null);
      return info === null ? [] : [storedEngine(name, info)];
    }),
  );
  return files.flat();
}

function storedEngine(name: string, info: Stats): StoredEngine {
  const parts = partsOf(name);
  const foreign = foreignFact(info) ?? ((parts ?? NAME_BEFORE.test(name)) ? null : NOT_OURS);
  const file = { name, bytes: info.size, builtAt: builtAt(info), lastUsed: info.mtime };
  if (foreign !== null) {
    const reason = `${name} ${foreign}, so it is not used. Remove it from the engine folder, or choose another folder.`;
    return { ...file, state: 'foreign', reason, parts: null };
  }
  if (parts === null) {
    const reason = `${name} was stored by an earlier release and is not used. Remove it with lattice engine prune.`;
    return { ...file, state: 'stale', reason, parts };
  }
  return { ...file, state: 'ready', reason: '', parts };
}

const NOT_OURS = 'was not written by lattice';

/** Null for a file that this user wrote and no other could. */
function foreignFact(info: Stats): string | null {
  if (info.isSymbolicLink()) return 'is a symbolic link';
  if (!info.isFile()) return 'is not a regular file';
  if (info.uid !== process.geteuid?.()) return 'belongs to another user';
  return (info.mode & 0o022) === 0 ? null : 'is writable for others';
}

function partsOf(name: string): EngineParts | null {
  const groups = NAME.exec(name)?.groups;
  return groups === undefined ? null : (groups as unknown as EngineParts);
}

function builtAt({ birthtimeMs, birthtime }: Stats): Date | null {
  return birthtimeMs > 0 ? birthtime : null;
}
