/** Takes over stored results for images of jobs that ask for it, so that what has not changed is not run again. */
import type { ImageResult } from '../../api/schemas/image.js';
import type { ModelVersion } from '../../api/schemas/model.js';
import type { LookAtFiles } from '../../files/file-looks.js';
import type { Logger } from '../../base/logger-port.js';
import { withBoxes } from '../../boxes/asked-again.js';
import { unpackFound } from '../../boxes/found-boxes.js';
import { refineDetections } from '../../boxes/refine-detections.js';
import type { ImageOutcome, JobSettings } from '../../store/job.js';
import type { ReuseKeys, StoredResult, WaitingImage } from '../../store/job-records.js';
import { reuseKeys, settledStamp, type ReuseSubject } from '../reuse-key.js';
import type { ServiceStore } from '../../store/service-store.js';
import type { Views } from '../../views/views.js';

export interface ReuseParts {
  /** See `ReuseSubject`. */
  environment: string;
  look: LookAtFiles;
  store: Pick<ServiceStore, 'reusable'>;
  views: Pick<Views, 'resolve'>;
  logger: Logger;
}

/** The result that an image takes over, and under which it can be found from then on. */
export type TakenOver = StoredResult & { keys: ReuseKeys };

const NONE: ReadonlyMap<number, TakenOver> = new Map();

export class Reuse {
  readonly #parts: ReuseParts;

  constructor(parts: ReuseParts) {
    this.#parts = parts;
  }

  /**
   * Whether `takeOver` may give anything. A drawn copy, a look and descriptors are made of an image that runs; photos
   * of an upload are its own.
   */
  isWanted({ reuse, annotate, places, upload, scoreFloor, cameraHealth }: JobSettings): boolean {
    const mustRun = annotate || places || cameraHealth === true || upload !== undefined;
    return reuse !== 'off' && !mustRun && scoreFloor !== undefined;
  }

  /** The keys under which the result of an image can be found; none if it was not read from a file. */
  keysOf(
    settings: JobSettings,
    path: string,
    { file, modelDigest, precision }: ImageResult,
  ): ReuseKeys | null {
    if (file === undefined || modelDigest === undefined || precision === undefined) return null;
    const subject = this.#subject(settings, { modelDigest, precision });
    if (subject === null) return null;
    return reuseKeys(subject, path, settledStamp(file), file.digest);
  }

  /**
   * Results by index of the image, of those that need not run on this model. Never rejects: what fails here shows in
   * the run.
   */
  async takeOver(
    settings: JobSettings,
    images: readonly WaitingImage[],
    model: ModelVersion | null,
  ): Promise<ReadonlyMap<number, TakenOver>> {
    // A suspect runs alone.
    const asked = images.filter(({ deaths }) => deaths === 0);
    if (model === null || !this.isWanted(settings) || asked.length === 0) return NONE;
    try {
      return await this.#takeOver(settings, asked, model);
    } catch (error) {
      this.#parts.logger.debug({ error: String(error) }, 'no results can be taken over now');
      return NONE;
    }
  }

  async #takeOver(
    settings: JobSettings,
    images: readonly WaitingImage[],
    { digest, precision }: ModelVersion,
  ) {
    const { look, store } = this.#parts;
    const { keyId, reuse } = settings;
    const subject = this.#subject(settings, { modelDigest: digest, precision });
    if (subject === null) return NONE;
    const files = await look(
      images.map(({ path }) => path),
      reuse === 'content',
    );
    const wanted = images.flatMap(({ index, path }, at) => {
      const file = files[at];
      if (file === null || file === undefined) return [];
      return [{ index, path, keys: reuseKeys(subject, path, file.stamp, file.digest) }];
    });
    const found = await store.reusable(
      keyId,
      wanted.map(({ keys }) => keys),
    );
    const taken = new Map<number, TakenOver>();
    wanted.forEach(({ index, path, keys }, at) => {
      const stored = found[at];
      if (stored) taken.set(index, { ...this.#asked(settings, path, stored), keys });
    });
    return taken;
  }

  /** The stored result may be that of another question. */
  #asked({ options, keyId }: JobSettings, path: string, stored: StoredResult): StoredResult {
    const resolved = this.#parts.views.resolve(options, path, keyId);
    const result = JSON.parse(stored.outcome) as Extract<ImageOutcome, { status: 'ok' }>;
    const refined = refineDetections(unpackFound(stored.found), resolved.options);
    // A copy of the file may have another name, which tells another time.
    const taken = stored.taken?.source === 'exif' ? stored.taken : null;
    return { ...stored, taken, outcome: JSON.stringify(withBoxes(result, refined, resolved.used)) };
  }

  /** Null for a job of an earlier release, whose results have no boxes beside those that it asks for. */
  #subject(
    { keyId: owner, options, scoreFloor }: JobSettings,
    model: Pick<ReuseSubject, 'modelDigest' | 'precision'>,
  ): ReuseSubject | null {
    const { environment } = this.#parts;
    return scoreFloor === undefined ? null : { environment, owner, options, scoreFloor, ...model };
  }
}
