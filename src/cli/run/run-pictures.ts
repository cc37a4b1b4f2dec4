/**
 * The pictures that a run leaves in folders of its folder. A record beneath `data` says of which boxes each file was
 * made: what is there already is not made again, and what belongs to no image any more is removed.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, mkdir, open, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { removeParts } from '../../base/output-place.js';
import { computingCores } from '../../base/processors.js';
import {
  picturePlans,
  PictureTables,
  type MadePictures,
  type PicturePlan,
  type PictureSource,
} from '../../export/pictures.js';
import { writeFileTo } from '../output-file.js';
import { Progress } from '../progress.js';
import type { Terminal } from '../terminal.js';

/** Each has a decoded picture in memory. */
const MOST_AT_ONCE = 4;

interface RunEnd {
  /** The run folder. */
  folder: string;
  images: number;
  terminal: Terminal;
  signal: AbortSignal;
}

interface WrittenPictures {
  /** The folder and its tables; none after the signal, when the pictures that were begun are there. */
  paths: string[];
  /** Images without a picture, those that failed among them. */
  leftOut: number;
}

export async function writeRunPictures(
  source: PictureSource,
  { folder, images, terminal, signal }: RunEnd,
): Promise<WrittenPictures> {
  const { kind } = source.look;
  const target = join(folder, kind);
  await mkdir(target, { recursive: true });
  await removeParts(target, /\.jpg$/, { recursive: true });
  const made = await MadeFiles.open(join(folder, 'data', `${kind}.made`), target);
  try {
    const tables = new PictureTables(kind);
    const progress = new Progress(terminal, images);
    const running: Promise<[PicturePlan, MadePictures]>[] = [];
    const settle = async (most: number) => {
      while (running.length > most) {
        const next = await running.shift();
        if (next !== undefined) tables.add(...next);
        progress.step();
      }
    };
    const most = Math.min(MOST_AT_ONCE, computingCores()) - 1;
    for await (const plan of picturePlans(source)) {
      if (signal.aborted) break;
      running.push(writtenPlan(plan, made));
      await settle(most);
    }
    await settle(0);
    if (signal.aborted) return { paths: [], leftOut: 0 };
    await made.removeOthers();
    const paths = [target, ...(await writeTables(target, tables))];
    return { paths, leftOut: tables.leftOut.length };
  } finally {
    await made.close();
  }
}

/** Pictures that are there are taken as made. */
async function writtenPlan(
  plan: PicturePlan,
  made: MadeFiles,
): Promise<[PicturePlan, MadePictures]> {
  const key = digestOf(plan.facts);
  const names = plan.files.map(({ name }) => name);
  if (names.length > 0 && (await made.have(names, key))) return [plan, { jpegs: [] }];
  const pictures = await plan.make();
  if ('jpegs' in pictures) {
    for (const [at, jpeg] of pictures.jpegs.entries()) await made.write(names[at] ?? '', key, jpeg);
  }
  return [plan, pictures];
}

async function writeTables(path: string, { rows, leftOut }: PictureTables): Promise<string[]> {
  const table = `${path}.csv`;
  await writeFileTo({ kind: 'file', path: table, before: null }, [...rows]);
  const others = `${path}.left-out.txt`;
  if (leftOut.length === 0) {
    await rm(others, { force: true });
    return [table];
  }
  await writeFileTo({ kind: 'file', path: others, before: null }, [...leftOut]);
  return [table, others];
}

const LINE = /^([0-9a-f]{18}|gone)\t((?!\.\.\/)(?:[^/]+\/)?[^/]+\.jpg)$/;
const GONE = 'gone';

/** A line for each file that was written or removed; the last one of a file counts. */
class MadeFiles {
  readonly #path: string;
  readonly #folder: string;
  readonly #file: FileHandle;
  /** Digests of names and of what they were made of: a million of them take about 100 MB. */
  readonly #earlier: Map<string, string>;
  readonly #folders = new Set<string>();

  private constructor(
    path: string,
    folder: string,
    file: FileHandle,
    earlier: Map<string, string>,
  ) {
    this.#path = path;
    this.#folder = folder;
    this.#file = file;
    this.#earlier = earlier;
  }

  static async open(path: string, folder: string): Promise<MadeFiles> {
    const file = await open(path, 'a');
    const earlier = new Map<string, string>();
    for await (const [key, name] of linesOf(path)) {
      if (key === GONE) earlier.delete(digestOf(name));
      else earlier.set(digestOf(name), key);
    }
    // A killed process may have left a part of a line.
    await file.write('\n');
    return new MadeFiles(path, folder, file, earlier);
  }

  /** All of them are there, made of the same. */
  async have(names: readonly string[], key: string): Promise<boolean> {
    for (const name of names) {
      if (this.#earlier.get(digestOf(name)) !== key) return false;
      const isThere = await access(join(this.#folder, name)).then(
        () => true,
        () => false,
      );
      if (!isThere) return false;
    }
    for (const name of names) this.#earlier.delete(digestOf(name));
    return true;
  }

  async write(name: string, key: string, content: Uint8Array): Promise<void> {
    const path = join(this.#folder, name);
    if (!this.#folders.has(dirname(path))) await mkdir(dirname(path), { recursive: true });
    this.#folders.add(dirname(path));
    await writeFileTo({ kind: 'file', path, before: null }, [content]);
    this.#earlier.delete(digestOf(name));
    await this.#file.write(`${key}\t${name}\n`);
  }

  /** Files of earlier calls that were neither found nor written in this one. */
  async removeOthers(): Promise<void> {
    if (this.#earlier.size === 0) return;
    const others: string[] = [];
    for await (const [, name] of linesOf(this.#path)) {
      if (this.#earlier.delete(digestOf(name))) others.push(name);
    }
    for (const name of others) {
      await rm(join(this.#folder, name), { force: true });
      await this.#file.write(`${GONE}\t${name}\n`);
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

async function* linesOf(path: string): AsyncGenerator<[key: string, name: string], void> {
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const [, key, name] = LINE.exec(line) ?? [];
    if (key !== undefined && name !== undefined) yield [key, name];
  }
}

function digestOf(text: string): string {
  return createHash('sha1').update(text).digest('hex').slice(0, 18);
}
