/** When pictures beneath the image roots were taken. */
import { placesOfForms } from './image-paths.js';
import type { Place } from './listing/find-images.js';
import type { FileTimes } from './listing/file-times.js';
import { ImageLister, isHanging } from './listing/image-lister.js';
import { timeInName, TIME_SOURCES, type PictureTime, type TimeSource } from './wall-time.js';

/** Limit for the pictures of one question. */
const WITHIN_MS = 5_000;
const MOST_PER_QUESTION = 64;

interface Waiting {
  places: Place[];
  resolve: (times: FileTimes | null) => void;
}

export class PictureTimes {
  readonly #roots: readonly string[];
  readonly #withinMs: number;
  /** Reads the files in its own processes, so that a volume that hangs holds no thread of the service. */
  readonly #lister = new ImageLister();
  /** Pictures that wait by root while a question about the root is open. They become one question. */
  readonly #waiting = new Map<string, Waiting[]>();

  /** `roots` are absolute. */
  constructor(roots: readonly string[], withinMs = WITHIN_MS) {
    this.#roots = roots;
    this.#withinMs = withinMs;
  }

  /**
   * By its EXIF data, else its name, else its last change. Null where the name has no time and the file cannot be read,
   * or not in time; asked once more where that was no fault of the volume. `root` is that of the path in place of the
   * image roots. Never rejects.
   */
  async of(path: string, root?: string): Promise<PictureTime | null> {
    const file = await this.#read(path, root === undefined ? this.#roots : [root]);
    const times: Record<TimeSource, string | null> = {
      exif: file?.exif ?? null,
      name: timeInName(path),
      file: file?.changed ?? null,
    };
    for (const source of TIME_SOURCES) {
      const time = times[source];
      if (time !== null) return { time, source };
    }
    return null;
  }

  #read(path: string, roots: readonly string[]): Promise<FileTimes | null> {
    const places = placesOfForms(path, roots);
    const [first] = places;
    if (first === undefined) return Promise.resolve(null);
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(first.root);
      if (waiting !== undefined) waiting.push({ places, resolve });
      else void this.#ask(first.root, [{ places, resolve }]);
    });
  }

  async #ask(root: string, waiting: Waiting[]): Promise<void> {
    this.#waiting.set(root, waiting);
    while (waiting.length > 0) {
      const asked = waiting.splice(0, MOST_PER_QUESTION);
      const query = { root, pictures: asked.map(({ places }) => places) };
      const ask = () => this.#lister.ask('fileTimes', query, this.#withinMs);
      const times = await ask()
        .catch((error: unknown) => (isHanging(error) ? null : ask()))
        .catch(() => null);
      asked.forEach(({ resolve }, index) => {
        resolve(times?.[index] ?? null);
      });
    }
    this.#waiting.delete(root);
  }
}
