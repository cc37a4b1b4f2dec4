/**
 * A stored TensorRT engine as the commands `lattice engine` show it: its header. native/engine_cache/checked_file.h has
 * the layout and writes it, native/engine_cache/engine_key.cc the header's JSON.
 */
import { constants } from 'node:fs';
import { open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { z } from 'zod';

/** `stale`: of another version of lattice. A `foreign` file is not lattice's and is never touched. */
export type EngineFileState = 'ready' | 'stale' | 'damaged' | 'foreign';

const headerSchema = z.object({
  tensorrt_version: z.string(),
  gpu_name: z.string(),
  /** Compute capability, `9.0`. */
  sm: z.string(),
  model_sha256: z.string(),
  precision: z.string(),
  buckets: z.array(z.int()),
  input: z.tuple([z.int(), z.int()]),
  builder_level: z.int(),
  conversion_version: z.int(),
  model_name: z.string(),
  created_s: z.int().min(0).max(8.64e12),
  build_ms: z.int(),
});
export type EngineHeader = z.infer<typeof headerSchema>;

export interface EngineFile {
  /** STEM.engine. */
  name: string;
  state: EngineFileState;
  /** A sentence for the user; empty when ready. */
  reason: string;
  /** For ready files only. */
  header: EngineHeader | null;
  bytes: number;
  lastUsed: Date;
}

/** `header` does not read the plan: only its length is checked. */
export type EngineFilePart = 'header' | 'whole';

export const ENGINE_ENDING = '.engine';

const MAGIC = 'LATENGIN';
const FORMAT_VERSION = 2;
const PREAMBLE_BYTES = 32;
const MAX_TEXT_BYTES = 64 * 1024;
const REMOVE = 'Remove it from the engine folder, or choose another folder.';

/** By name; empty for a folder that does not exist. */
export async function listEngineFiles(folder: string): Promise<EngineFile[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });
  const engines = names.filter((name) => name.endsWith(ENGINE_ENDING)).sort();
  const files = await Promise.all(engines.map((name) => readEngineFile(folder, name)));
  return files.filter((file) => file !== null);
}

/** Null when there is no such file. Follows no link. */
export async function readEngineFile(
  folder: string,
  name: string,
  part: EngineFilePart = 'header',
): Promise<EngineFile | null> {
  const verdict = (state: EngineFileState, fact: string): EngineFile => ({
    name,
    state,
    reason: fact && `${name} ${fact}`,
    header: null,
    bytes: 0,
    lastUsed: new Date(0),
  });
  const foreign = (fact: string) => verdict('foreign', `${fact}, so it is not used. ${REMOVE}`);
  // Without O_NONBLOCK a FIFO would keep the open waiting for a writer.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  let file: FileHandle;
  try {
    file = await open(join(folder, name), flags);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return null;
    if (code === 'ELOOP') return foreign('is a symbolic link');
    if (['EACCES', 'EPERM', 'ENXIO'].includes(code)) return foreign('may not be read');
    throw error;
  }
  try {
    const info = await file.stat();
    if (!info.isFile()) return foreign('is not a regular file');
    if (info.uid !== process.geteuid?.()) return foreign('belongs to another user');
    if ((info.mode & 0o022) !== 0) return foreign('is writable for others');
    const found = await examine(file, info.size, part);
    if (found === 'foreign') return foreign('was not written by lattice');
    const { state, fact, header } = found;
    const sizes = { bytes: info.size, lastUsed: info.mtime };
    return { ...verdict(state, fact), ...sizes, header };
  } finally {
    await file.close();
  }
}

interface Found {
  state: EngineFileState;
  fact: string;
  header: EngineHeader | null;
}

async function examine(
  file: FileHandle,
  bytes: number,
  part: EngineFilePart,
): Promise<Found | 'foreign'> {
  const damaged = (fact: string): Found => ({ state: 'damaged', fact, header: null });
  const stale: Found = {
    state: 'stale',
    fact: 'has the format of another version of lattice.',
    header: null,
  };
  const preamble = await readAt(file, 0, PREAMBLE_BYTES);
  if (!MAGIC.startsWith(preamble.toString('latin1', 0, MAGIC.length))) return 'foreign';
  if (preamble.length < PREAMBLE_BYTES) return damaged('is cut short.');
  if (preamble.readUInt32LE(8) !== FORMAT_VERSION) return stale;
  const textBytes = preamble.readUInt32LE(12);
  if (textBytes > MAX_TEXT_BYTES || textBytes > bytes - PREAMBLE_BYTES) {
    return damaged('is damaged in its header, or cut short.');
  }
  const text = await readAt(file, PREAMBLE_BYTES, textBytes);
  if (crc32(text, crc32(preamble.subarray(0, 28))) !== preamble.readUInt32LE(28)) {
    return damaged('is damaged in its header.');
  }
  const planAt = PREAMBLE_BYTES + textBytes;
  if (preamble.readBigUInt64LE(16) !== BigInt(bytes - planAt)) {
    return damaged('does not have the length that its header gives.');
  }
  if (part === 'whole' && (await crcFrom(file, planAt)) !== preamble.readUInt32LE(24)) {
    return damaged('is damaged: its checksum does not match.');
  }
  const header = headerOf(text.toString());
  return header === null ? stale : { state: 'ready', fact: '', header };
}

/** Null for another version's header. */
function headerOf(text: string): EngineHeader | null {
  try {
    return headerSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Fewer bytes where the file ends. */
async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

async function crcFrom(file: FileHandle, start: number): Promise<number> {
  let sum = 0;
  const stream = file.createReadStream({ start, autoClose: false });
  for await (const chunk of stream) sum = crc32(chunk as Buffer, sum);
  return sum;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
