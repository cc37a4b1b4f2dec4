/** Files that come into a watched folder as cameras, copies and people put them there, and what is known of each. */
import {
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { picture } from './pictures.js';

export interface Version {
  number: number;
  path: string;
  /** That it has had. */
  names: number;
  /** When it had been written whole, by the monotonic clock; null: it never was. */
  wholeAt: number | null;
  /** When it was overwritten or removed, or a write into it began; null: it lies there at the end. */
  endedAt: number | null;
}

export interface DropParts {
  /** The watched folder. It may be away for a time. */
  folder: string;
  files: number;
  /** In which they come. */
  overMs: number;
  random: () => number;
}

const FOLDERS = ['', 'north', 'south', 'south/2026'];
/** Between two parts of a file: shorter and longer than files have to rest. */
const PAUSES_MS = [20, 100, 250, 700];

export class Dropping {
  readonly versions: Version[] = [];
  readonly counts = new Map<string, number>();
  readonly #parts: DropParts;
  /** The version of the file at each path. */
  readonly #present = new Map<string, Version>();
  /** Written at the moment: nobody else touches them. */
  readonly #busy = new Set<string>();
  #away: Promise<void> = Promise.resolve();

  constructor(parts: DropParts) {
    this.#parts = parts;
    for (const name of FOLDERS) mkdirSync(join(parts.folder, name), { recursive: true });
  }

  /** Everything has been written when it resolves. */
  async run(): Promise<void> {
    const { files, overMs, random } = this.#parts;
    const start = performance.now();
    const moments = Array.from({ length: files }, () => overMs * random()).sort((a, b) => a - b);
    const open: Promise<void>[] = [];
    for (const moment of moments) {
      const wait = start + moment - performance.now();
      if (wait > 0) await sleep(wait);
      await this.#away;
      open.push(this.#act());
    }
    await Promise.all(open);
  }

  /** The folder is away for so long; nothing is put into it meanwhile. */
  async leave(ms: number): Promise<void> {
    const { folder } = this.#parts;
    const away = `${folder}.away`;
    this.#away = (async () => {
      while (this.#busy.size > 0) await sleep(5);
      renameSync(folder, away);
      await sleep(ms / 2);
      // As the folder of a volume that is not mounted.
      mkdirSync(folder);
      await sleep(ms / 2);
      rmSync(folder, { recursive: true });
      renameSync(away, folder);
    })();
    await this.#away;
  }

  async #act(): Promise<void> {
    const { random } = this.#parts;
    const kinds: [number, string, () => Promise<void>][] = [
      [0.3, 'whole', () => this.#write(this.#newPath(), 1)],
      [0.45, 'growing', () => this.#write(this.#newPath(), 2 + Math.floor(4 * random()))],
      [0.55, 'moved into place', () => this.#replace(this.#newPath())],
      [
        0.7,
        'rewritten',
        () => this.#write(this.#oldPath() ?? this.#newPath(), 1 + Math.floor(3 * random())),
      ],
      [0.78, 'replaced', () => this.#replace(this.#oldPath() ?? this.#newPath())],
      [0.86, 'renamed', () => this.#rename(this.#oldPath(), this.#newPath())],
      [0.9, 'renamed over another', () => this.#rename(this.#oldPath(), this.#oldPath())],
      [0.96, 'deleted', () => this.#delete(this.#oldPath())],
      [1, 'half written', () => this.#write(this.#newPath(), 2, true)],
    ];
    const chance = random();
    const [, name, act] = kinds.find(([until]) => chance < until) ?? kinds[0]!;
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    await act();
  }

  #newPath(): string {
    const folder = FOLDERS[Math.floor(FOLDERS.length * this.#parts.random())] ?? '';
    return join(folder, `${this.versions.length}-${Math.floor(1e6 * this.#parts.random())}.png`);
  }

  #oldPath(): string | null {
    const paths = [...this.#present.keys()].filter((path) => !this.#busy.has(path));
    return paths[Math.floor(paths.length * this.#parts.random())] ?? null;
  }

  #at(path: string): string {
    return join(this.#parts.folder, path);
  }

  #begin(path: string): Version {
    this.#end(path);
    const version = { number: this.versions.length, path, names: 1, wholeAt: null, endedAt: null };
    this.versions.push(version);
    this.#present.set(path, version);
    return version;
  }

  #end(path: string): void {
    const before = this.#present.get(path);
    if (before !== undefined) before.endedAt = performance.now();
    this.#present.delete(path);
  }

  async #write(path: string, parts: number, isHalf = false): Promise<void> {
    this.#busy.add(path);
    const version = this.#begin(path);
    const bytes = picture(version.number);
    const file = openSync(this.#at(path), 'w');
    try {
      const length = Math.ceil(bytes.length / parts);
      for (let part = 0; part < (isHalf ? parts - 1 : parts); part += 1) {
        if (part > 0) await sleep(PAUSES_MS[Math.floor(PAUSES_MS.length * this.#parts.random())]);
        writeSync(file, bytes, part * length, Math.min(length, bytes.length - part * length));
      }
      if (!isHalf) version.wholeAt = performance.now();
    } finally {
      closeSync(file);
      this.#busy.delete(path);
    }
  }

  async #replace(path: string): Promise<void> {
    this.#busy.add(path);
    const bytes = picture(this.versions.length);
    const version = this.#begin(path);
    const temporary = join(dirname(this.#at(path)), `.${version.number}.part`);
    writeFileSync(temporary, bytes);
    await sleep(20);
    renameSync(temporary, this.#at(path));
    version.wholeAt = performance.now();
    this.#busy.delete(path);
  }

  #rename(from: string | null, to: string | null): Promise<void> {
    if (from === null || to === null || from === to) return Promise.resolve();
    const version = this.#present.get(from);
    if (version === undefined) return Promise.resolve();
    renameSync(this.#at(from), this.#at(to));
    this.#present.delete(from);
    this.#end(to);
    version.path = to;
    version.names += 1;
    this.#present.set(to, version);
    return Promise.resolve();
  }

  #delete(path: string | null): Promise<void> {
    if (path !== null) {
      rmSync(this.#at(path));
      this.#end(path);
    }
    return Promise.resolve();
  }
}

/**
 * One line for each promise that is broken. `results`: numbers of the pictures that results were read from. `idle`:
 * moments at which the watch had nothing to do; `afterMs`: how long before one a version has to be at rest;
 * `keepsInodes`: the volume shows that a renamed file is the same, else each of its names may have a result.
 */
export function violationsOf(
  versions: readonly Version[],
  results: readonly number[],
  idle: readonly number[],
  afterMs: number,
  keepsInodes: boolean,
): string[] {
  const counts = new Map<number, number>();
  for (const number of results) counts.set(number, (counts.get(number) ?? 0) + 1);
  const found = versions.flatMap(({ number, path, names, wholeAt, endedAt }) => {
    const count = counts.get(number) ?? 0;
    counts.delete(number);
    const name = `version ${number} (${path})`;
    if (wholeAt === null) return count === 0 ? [] : [`${name} was never whole and has a result`];
    if (count > (keepsInodes ? 1 : names)) return [`${name} has ${count} results`];
    const rested = endedAt === null || idle.some((at) => wholeAt + afterMs < at && at < endedAt);
    return rested && count === 0 ? [`${name} has no result`] : [];
  });
  for (const number of counts.keys())
    found.push(`a result of picture ${number}, which was not written`);
  return found;
}
