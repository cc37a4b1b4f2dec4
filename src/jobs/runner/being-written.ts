/**
 * Images of a job that could not be used and whose files were modified recently: they may still be written. They are
 * run again after a pause, in which they hold nothing, as long as their files change; at rest they fail after two more
 * looks.
 */
import { hasMoved, type FileRead, type FileStamp } from '../../api/schemas/file-read.js';
import type { WaitingImage } from '../../store/job-records.js';

/** Pauses before the looks at a file, in their order; the last one repeats. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000];
const LOOKS_AT_REST = 2;
/** An upload of one picture takes no longer; a file that is written for ever must not keep its job open. */
const PATIENCE_MS = 120_000;

interface Waiting {
  since: number;
  looks: number;
  atRest: number;
  stamp: FileStamp | null;
}

export class BeingWritten {
  readonly #giveBack: (image: WaitingImage) => void;
  /** Images by index. */
  readonly #images = new Map<number, Waiting>();
  readonly #timers = new Set<NodeJS.Timeout>();

  /** `giveBack` gets an image when its pause is over. */
  constructor(giveBack: (image: WaitingImage) => void) {
    this.#giveBack = giveBack;
  }

  /**
   * The image failed on `file`; null where that changed while it was read. False: its file is at rest, or has changed
   * for too long. Then it is not taken and has failed.
   */
  take(image: WaitingImage, file: FileRead | null): boolean {
    const now = performance.now();
    const known = this.#images.get(image.index);
    const waiting = known ?? { since: now, looks: 0, atRest: 0, stamp: file };
    if (known !== undefined) {
      waiting.atRest = isSame(known.stamp, file) ? known.atRest + 1 : 0;
      waiting.stamp = file;
    }
    if (waiting.atRest >= LOOKS_AT_REST || now - waiting.since >= PATIENCE_MS) {
      this.done(image);
      return false;
    }
    this.#images.set(image.index, waiting);
    const pause = PAUSES_MS[Math.min(waiting.looks, PAUSES_MS.length - 1)];
    waiting.looks += 1;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#giveBack(image);
    }, pause).unref();
    this.#timers.add(timer);
    return true;
  }

  done({ index }: WaitingImage): void {
    this.#images.delete(index);
  }

  end(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#images.clear();
  }
}

function isSame(a: FileStamp | null, b: FileStamp | null): boolean {
  return a !== null && b !== null && a.inode === b.inode && !hasMoved(a, b);
}
