/**
 * The data that every export format is written from, and its common notation. Nothing here knows of jobs, HTTP or
 * files.
 */
import type { Detection, ImageSize } from '../api/schemas/image.js';

/** The fields of an entry of `images[]` of a job's record that the formats read. An entry may have more. */
export type ExportedImage =
  | {
      image_path: string;
      status: 'ok';
      detections: readonly Detection[];
      image: ImageSize;
      car_count?: number;
      class_counts?: Readonly<Record<string, number>>;
      /** Digest of the model that ran; absent in results of earlier versions. */
      model_digest?: string | undefined;
      precision?: string | undefined;
      /** The file that was read; absent for a picture that was sent, and in results of earlier versions. */
      file?: { size: number; modified_at: number } | undefined;
      /** Where the picture was taken; absent where it does not say so. */
      latitude?: number | undefined;
      longitude?: number | undefined;
      /** When the picture was taken, of the images of jobs, where it is known. */
      taken_at?: string | undefined;
    }
  | { image_path: string; status: 'error'; error: { detail: string } };

export type ProcessedEntry = Extract<ExportedImage, { status: 'ok' }>;

export interface ExportSource {
  /** Id of the job; null for images that belong to none. */
  jobId: string | null;
  model: string;
  /** Class names in the order of the model; empty where they are unknown. */
  classes: readonly string[];
  /** Whether the boxes tell if their vehicles stand. */
  standing?: boolean;
  /** Path of an image relative to its folder, for formats that name files. */
  fileName: (imagePath: string) => string;
  /** All images from the first on, the same at each call. A page is read when it is needed. */
  pages: () => AsyncIterable<readonly ExportedImage[]>;
}

/**
 * The file in pieces, about one per page. A piece is made when it is read, so a slow reader slows the reading of pages.
 * Rejects with what `pages` rejects with; the pieces until then are no valid file.
 */
export type WriteExport = (source: ExportSource) => AsyncGenerator<string | Uint8Array, void>;

export function isProcessed(image: ExportedImage): image is ProcessedEntry {
  return image.status === 'ok';
}

/** A path without what makes it absolute: exports name files relative to a folder of the reader's. */
export function relativeName(path: string): string {
  return path.replace(/^(?:\.?\/)+/, '');
}

/** Numbers of classes, from 0, in the order of the model: the same in every export of the same model. */
export class ClassNumbers {
  readonly #numbers: Map<string, number>;

  constructor(classes: readonly string[]) {
    this.#numbers = new Map();
    for (const name of classes) this.of(name);
  }

  /** A name that the model does not have (it was replaced or removed since) gets the next free number. */
  of(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    this.#numbers.set(name, number);
    return number;
  }

  /** Every class so far, in the order of the numbers. */
  get names(): string[] {
    return [...this.#numbers.keys()];
  }
}
