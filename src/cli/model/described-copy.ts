/** Class names and input size for exports that carry none, and a threshold of the model's own. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { THRESHOLD_KEY } from '../../models/own-threshold.js';
import { onUserPath, UsageError } from '../terminal.js';
import { appendMetadata } from './append-metadata.js';
import { copyModel } from './model-copy.js';

export interface ModelDescription {
  /** Names separated by commas, or a text file with a name per line. */
  names?: string | undefined;
  /** `[height, width]` in pixels, for an export with open sides. */
  input?: [number, number] | undefined;
  /** Confidence threshold for requests that name none. */
  threshold?: number | undefined;
}

/** `640` or `640x384`, width first. */
export function inputSides(text: string): [number, number] {
  const found = /^(\d{1,4})(?:x(\d{1,4}))?$/.exec(text.trim());
  if (found === null) throw new InvalidArgumentError('It must be like 640 or 640x384.');
  const width = Number(found[1]);
  return [Number(found[2] ?? width), width];
}

/**
 * Calls `use` with the model: `path` itself, or a copy whose metadata say what the description says, for as long as the
 * call takes. Throws `UsageError` for names that cannot be read.
 */
export async function withDescribedCopy<T>(
  path: string,
  { names, input, threshold }: ModelDescription,
  use: (path: string) => Promise<T>,
): Promise<T> {
  const metadata = new Map<string, string>();
  if (names !== undefined) metadata.set('names', namesText(await namesOf(names)));
  if (input !== undefined) metadata.set('imgsz', `[${input.join(', ')}]`);
  if (threshold !== undefined) metadata.set(THRESHOLD_KEY, String(threshold));
  if (metadata.size === 0) return use(path);
  const folder = await mkdtemp(join(tmpdir(), 'lattice-model-'));
  try {
    const copy = join(folder, basename(path));
    await writeDescribed(path, copy, metadata);
    return await use(copy);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeDescribed(
  path: string,
  copy: string,
  metadata: Map<string, string>,
): Promise<void> {
  await copyModel(path, copy);
  for (const [key, value] of metadata) await appendMetadata(copy, key, value);
}

async function namesOf(text: string): Promise<string[]> {
  const isFile = /\.(txt|names)$/.test(text);
  const listed = isFile
    ? (await onUserPath(text, 'read', readFile(text, 'utf8'))).split('\n')
    : text.split(',');
  const names = listed.map((name) => name.trim());
  while (isFile && names.at(-1) === '') names.pop();
  const empty = names.indexOf('');
  if (empty >= 0) throw new UsageError(`--names: name ${empty + 1} of ${text} is empty.`);
  return names;
}

/** A JSON string is one that Python reads too. */
function namesText(names: string[]): string {
  return `{${names.map((name, at) => `${at}: ${JSON.stringify(name)}`).join(', ')}}`;
}
