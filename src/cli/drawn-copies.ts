/** Pictures with their boxes drawn, under the names of the originals, in a folder of the user. */
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join, parse } from 'node:path';
import type { Detection } from '../api/image.js';
import { pathFault } from '../base/path-fault.js';
import { UsageError } from './terminal.js';

interface Artist {
  /** Gives the file name beneath `annotated` of the data folder it was made with. */
  annotate(imagePath: string, detections: readonly Detection[]): Promise<string>;
}

export class DrawnCopies {
  readonly #folder: string;
  /** Inside the target folder: a rename cannot cross file systems. */
  readonly #dataDir: string;
  readonly #artist: Artist;
  readonly #taken = new Set<string>();

  private constructor(folder: string, dataDir: string, artist: Artist) {
    this.#folder = folder;
    this.#dataDir = dataDir;
    this.#artist = artist;
  }

  /** Makes the folder. Rejects with `UsageError` when it cannot be written. */
  static async open(folder: string, createArtist: (dataDir: string) => Artist) {
    try {
      await mkdir(folder, { recursive: true });
      const dataDir = await mkdtemp(join(folder, '.drawing-'));
      return new DrawnCopies(folder, dataDir, createArtist(dataDir));
    } catch (error) {
      throw new UsageError(pathFault(error, folder, 'write'));
    }
  }

  /** Gives the path of the copy. Images of one name in several folders get -2, -3 and so on. */
  async write(imagePath: string, detections: readonly Detection[]): Promise<string> {
    const { name } = parse(imagePath);
    let file = `${name}.jpg`;
    for (let count = 2; this.#taken.has(file); count++) file = `${name}-${count}.jpg`;
    this.#taken.add(file);
    const target = join(this.#folder, file);
    const drawn = await this.#artist.annotate(imagePath, detections);
    await rename(join(this.#dataDir, 'annotated', drawn), target);
    return target;
  }

  /** Removes the working folder; call when the last `write` has settled. */
  async close(): Promise<void> {
    await rm(this.#dataDir, { recursive: true, force: true });
  }
}
