/**
 * A stored TensorRT engine as seen from outside: its header. native/engine_cache/sealed_file.h writes the bytes,
 * native/engine_cache/engine_header.h the text. Layout; numbers are little-endian:
 *
 *    0   8  magic, LATENGIN
 *    8   4  format version, 1
 *   12   4  bytes of the header text, n; at most 65,536
 *   16   8  bytes of the plan
 *   24  32  SHA-256 of the plan
 *   56  32  SHA-256 of bytes 0 to 55 and the header text
 *   88   n  header text: ASCII lines name=value, other bytes as \xHH; those of the key first
 *   88+n    plan, to the end of the file
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

/** `stale`, `damaged` and `ready` as in native/engine_cache/private_folder.h; a `foreign` file is never touched. */
export type EngineFileState = 'ready' | 'stale' | 'damaged' | 'foreign';

export interface EngineHeader {
  modelSha256: string;
  tensorrtVersion: string;
  gpuName: string;
  /** Compute capability, `9.0`. */
  sm: string;
  precision: string;
  buckets: number[];
  inputWidth: number;
  inputHeight: number;
  builderLevel: number;
  conversionVersion: number;
  modelName: string;
  createdAt: Date;
  buildMs: number;
}

export interface EngineFile {
  /** STEM.engine. */
  name: string;
  state: EngineFileState;
  /** A sentence for the user; empty when ready. */
  reason: string;
  /** For ready files, and for stale ones where it could be read. */
  header: EngineHeader | null;
  bytes: number;
  lastUsed: Date;
}

/** `header` leaves the plan unread: of it only the length is checked. */
export type EngineFilePart = 'header' | 'whole';

export const ENGINE_ENDING = '.engine';

const MAGIC = 'LATENGIN';
const FORMAT_VERSION = 1;
const SEAL_BYTES = 88;
const MAX_TEXT_BYTES = 64 * 1024;
const STEM_DIGITS = 32;
const REMOVE = 'Remove it from the engine folder, or choose another folder.';

/** By name; empty for a folder that is not there. */
export async function listEngineFiles(folder: string): Promise<EngineFile[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });
  const engines = names.filter((name) => name.endsWith(ENGINE_ENDING)).sort();
  const files = await Promise.all(engines.map((name) => readEngineFile(folder, name)));
  return files.filter((file) => file !== null);
}

/** Null when there is no such file. Follows no link; what it says is of the file that it opened. */
export async function readEngineFile(
  folder: string,
  name: string,
  part: EngineFilePart = 'header',
): Promise<EngineFile | null> {
  const unread: EngineFile = {
    name,
    state: 'foreign',
    reason: '',
    header: null,
    bytes: 0,
    lastUsed: new Date(0),
  };
  const foreign = (fact: string) => ({
    ...unread,
    reason: `${name} ${fact}, so it is not used. ${REMOVE}`,
  });
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
    const opened = { ...unread, bytes: info.size, lastUsed: info.mtime };
    return { ...opened, ...(await examine(file, opened, part)) };
  } finally {
    await file.close();
  }
}

type Verdict = Pick<EngineFile, 'state' | 'reason' | 'header'>;

async function examine(
  file: FileHandle,
  { name, bytes }: EngineFile,
  part: EngineFilePart,
): Promise<Verdict> {
  const verdict = (state: EngineFileState, fact: string): Verdict => ({
    state,
    reason: `${name} ${fact}`,
    header: null,
  });
  const seal = await readAt(file, 0, SEAL_BYTES);
  const magic = seal.toString('latin1', 0, MAGIC.length);
  if (!MAGIC.startsWith(magic)) {
    return verdict('foreign', `was not written by lattice, so it is not used. ${REMOVE}`);
  }
  if (seal.length < SEAL_BYTES) return verdict('damaged', 'is cut short.');
  if (seal.readUInt32LE(8) !== FORMAT_VERSION) {
    return verdict('stale', 'has the format of another version of lattice.');
  }
  const textBytes = seal.readUInt32LE(12);
  if (textBytes > MAX_TEXT_BYTES || textBytes > bytes - SEAL_BYTES) {
    return verdict('damaged', 'is damaged in its header, or cut short.');
  }
  const text = await readAt(file, SEAL_BYTES, textBytes);
  const digest = createHash('sha256').update(seal.subarray(0, 56)).update(text).digest();
  if (!digest.equals(seal.subarray(56, 88))) return verdict('damaged', 'is damaged in its header.');
  const planAt = SEAL_BYTES + textBytes;
  if (seal.readBigUInt64LE(16) !== BigInt(bytes - planAt)) {
    return verdict('damaged', 'has not the length that its header tells.');
  }
  if (part === 'whole' && !(await digestFrom(file, planAt)).equals(seal.subarray(24, 56))) {
    return verdict('damaged', 'is damaged: its checksum does not match.');
  }
  const parsed = parseHeader(text.toString('latin1'));
  if (parsed === null || name !== `${parsed.stem}${ENGINE_ENDING}`) {
    const stale = verdict('stale', 'holds an engine of another key.');
    return { ...stale, header: parsed?.header ?? null };
  }
  return { state: 'ready', reason: '', header: parsed.header };
}

/** In the order of native/engine_cache/engine_key.cc and engine_header.cc. */
const KEY_LINES = [
  ...['model_sha256', 'tensorrt_version', 'gpu_name', 'sm', 'precision', 'buckets', 'input'],
  ...['builder_level', 'conversion_version'],
];
const RECORD_LINES = ['model_name', 'created_s', 'build_ms'];

/** Null for anything but a header text. `stem` is what the file of its key is called. */
function parseHeader(text: string): { header: EngineHeader; stem: string } | null {
  const lines = text.split('\n');
  const names = [...KEY_LINES, ...RECORD_LINES];
  if (lines.length !== names.length + 1 || lines.at(-1) !== '') return null;
  const values = new Map<string, string>();
  for (const [index, name] of names.entries()) {
    const line = lines[index] ?? '';
    if (!line.startsWith(`${name}=`)) return null;
    values.set(name, unescape(line.slice(name.length + 1)));
  }
  const value = (name: string) => values.get(name) ?? '';
  const numbers = (name: string, separator: string) =>
    value(name).split(separator).filter(Boolean).map(Number);
  const [inputWidth = NaN, inputHeight = NaN] = numbers('input', 'x');
  const header: EngineHeader = {
    modelSha256: value('model_sha256'),
    tensorrtVersion: value('tensorrt_version'),
    gpuName: value('gpu_name'),
    sm: value('sm'),
    precision: value('precision'),
    buckets: numbers('buckets', ','),
    inputWidth,
    inputHeight,
    builderLevel: Number(value('builder_level')),
    conversionVersion: Number(value('conversion_version')),
    modelName: value('model_name'),
    createdAt: new Date(Number(value('created_s')) * 1000),
    buildMs: Number(value('build_ms')),
  };
  const counted = [...header.buckets, inputWidth, inputHeight, header.buildMs];
  counted.push(header.builderLevel, header.conversionVersion, header.createdAt.getTime());
  if (!counted.every(Number.isSafeInteger)) return null;
  const keyText = lines.slice(0, KEY_LINES.length).join('\n') + '\n';
  const stem = createHash('sha256').update(keyText).digest('hex').slice(0, STEM_DIGITS);
  return { header, stem };
}

function unescape(value: string): string {
  const bytes = value.replace(/\\x([0-9a-f]{2})/g, (_match, digits: string) =>
    String.fromCharCode(parseInt(digits, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** Fewer bytes where the file ends. */
async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(buffer, done, length - done, position + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return buffer.subarray(0, done);
}

async function digestFrom(file: FileHandle, start: number): Promise<Buffer> {
  const hash = createHash('sha256');
  const stream = file.createReadStream({ start, autoClose: false });
  for await (const chunk of stream) hash.update(chunk as Buffer);
  return hash.digest();
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
