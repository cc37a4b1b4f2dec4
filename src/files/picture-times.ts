/** When pictures beneath the image roots were taken. */
import { placesOfForms } from './image-paths.js';
import type { Place } from './listing/find-images.js';
import type { FileTimes } from './listing/file-times.js';
import { ImageLister, isHanging } from './listing/image-lister.js';
import { timeInName, TIME_SOURCES, type PictureTime, type TimeSource } from './wall-time.js';

/** Limit for the pictures of one question. */
const WITHIN_MS = 5_000;
const MOST_PER_QUESTION = 64;
/** A picture whose time nobody waits for is read after so long: its file may be moved away. */
const GATHER_MS = 100;

interface Waiting {
  places: Place[];
  resolve: (times: FileTimes | null) => void;
}

/** Pictures beneath a root that are not read yet. */
interface Gathered {
  waiting: Waiting[];
  /** Nothing while a question about the root is open. */
  timer: NodeJS.Timeout | undefined;
  isOpen: boolean;
  /** Somebody waits for one of the pictures. */
  isWanted: boolean;
}

/** Resolves with the time of a picture, see `PictureTimes.of`. */
export type AwaitTime = () => Promise<PictureTime | null>;

export class PictureTimes {
  readonly #roots: readonly string[];
  readonly #withinMs: number;
  /** Reads the files in its own processes, so that a volume that hangs holds no thread of the service. */
  readonly #lister = new ImageLister();
  /** By root: what is not read yet becomes one question. A question costs more than the pictures in it. */
  readonly #gathered = new Map<string, Gathered>();

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
  of(path: string, root?: string): Promise<PictureTime | null> {
    return this.begin(path, root)();
  }

  /** As `of`: the picture is read when the function is called, with others that have begun, or 100 ms from now. */
  begin(path: string, root?: string): AwaitTime {
    const places = placesOfForms(path, root === undefined ? this.#roots : [root]);
    const read = this.#gather(places);
    return async () => this.#timeOf(path, await read());
  }

  #timeOf(path: string, file: FileTimes | null): PictureTime | null {
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

  #gather(places: Place[]): () => Promise<FileTimes | null> {
    const [first] = places;
    if (first === undefined) return () => Promise.resolve(null);
    const gathered = this.#gatheredOf(first.root);
    let picture: Waiting | undefined;
    const times = new Promise<FileTimes | null>((resolve) => {
      picture = { places, resolve };
      gathered.waiting.push(picture);
    });
    if (!gathered.isOpen) this.#askLater(first.root, gathered);
    return () => {
      if (picture !== undefined && gathered.waiting.includes(picture)) {
        gathered.isWanted = true;
        if (!gathered.isOpen) void this.#ask(first.root, gathered);
      }
      return times;
    };
  }

  #gatheredOf(root: string): Gathered {
    const existing = this.#gathered.get(root);
    if (existing !== undefined) return existing;
    const gathered = { waiting: [], timer: undefined, isOpen: false, isWanted: false };
    this.#gathered.set(root, gathered);
    return gathered;
  }

  #askLater(root: string, gathered: Gathered): void {
    gathered.timer ??= setTimeout(() => void this.#ask(root, gathered), GATHER_MS).unref();
  }

  async #ask(root: string, gathered: Gathered): Promise<void> {
    clearTimeout(gathered.timer);
    gathered.timer = undefined;
    gathered.isOpen = true;
    const { waiting } = gathered;
    do {
      const asked = waiting.splice(0, MOST_PER_QUESTION);
      gathered.isWanted &&= waiting.length > 0;
      await this.#answer(root, asked);
    } while (gathered.isWanted || waiting.length >= MOST_PER_QUESTION);
    gathered.isOpen = false;
    if (waiting.length > 0) this.#askLater(root, gathered);
    else this.#gathered.delete(root);
  }

  async #answer(root: string, asked: Waiting[]): Promise<void> {
    const query = { root, pictures: asked.map(({ places }) => places) };
    const ask = () => this.#lister.ask('fileTimes', query, this.#withinMs);
    const times = await ask()
      .catch((error: unknown) => (isHanging(error) ? null : ask()))
      .catch(() => null);
    asked.forEach(({ resolve }, index) => {
      resolve(times?.[index] ?? null);
    });
  }
}
