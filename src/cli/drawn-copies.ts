/** Pictures with their boxes drawn, under their own names in a folder of the user's. */
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join, parse } from 'node:path';
import type { Detection } from '../contract/image-result.js';

interface Artist {
  /** Gives the file name beneath `annotated` of the data folder it was made with. */
  annotate(imagePath: string, detections: readonly Detection[]): Promise<string>;
}

export class DrawnCopies {
  private readonly folder: string;
  private readonly createArtist: (dataDir: string) => Artist;
  private readonly taken = new Set<string>();
  private work: Promise<{ dataDir: string; artist: Artist }> | null = null;

  constructor(folder: string, createArtist: (dataDir: string) => Artist) {
    this.folder = folder;
    this.createArtist = createArtist;
  }

  /** Gives the path of the copy. Images of one name in several folders get -2, -3 and so on. */
  async write(imagePath: string, detections: readonly Detection[]): Promise<string> {
    const { name } = parse(imagePath);
    let file = `${name}.jpg`;
    for (let count = 2; this.taken.has(file); count++) file = `${name}-${count}.jpg`;
    this.taken.add(file);
    this.work ??= this.begin();
    const { dataDir, artist } = await this.work;
    const target = join(this.folder, file);
    await rename(join(dataDir, 'annotated', await artist.annotate(imagePath, detections)), target);
    return target;
  }

  /** Removes the working folder; call when the last `write` has settled. */
  async close(): Promise<void> {
    const begun = await this.work?.catch(() => null);
    if (begun) await rm(begun.dataDir, { recursive: true, force: true });
  }

  /** Inside the target folder: a rename cannot cross file systems. */
  private async begin() {
    await mkdir(this.folder, { recursive: true });
    const dataDir = await mkdtemp(join(this.folder, '.drawing-'));
    return { dataDir, artist: this.createArtist(dataDir) };
  }
}
