/** Takes over stored results for images of jobs that ask for it, so that what has not changed is not run again. */
import type { ImageResult } from '../../api/schemas/image.js';
import type { ModelVersion } from '../../api/schemas/model.js';
import type { LookAtFiles } from '../../files/file-looks.js';
import type { Logger } from '../../base/logger-port.js';
import type { JobSettings } from '../../store/job.js';
import type { ReuseKeys, StoredResult, WaitingImage } from '../../store/job-records.js';
import { reuseKeys, settledStamp, type ReuseSubject } from '../reuse-key.js';
import type { ServiceStore } from '../../store/service-store.js';
import type { Resolved, Views } from '../../views/views.js';

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
   * Whether `takeOver` may give anything. A drawn copy is made of an image that runs; photos of an upload are its own.
   */
  isWanted({ reuse, annotate, upload }: JobSettings): boolean {
    return reuse !== 'off' && !annotate && upload === undefined;
  }

  /** The keys under which the result of an image can be found; none if it was not read from a file. */
  keysOf(
    { keyId }: JobSettings,
    path: string,
    { options, used }: Resolved,
    { file, modelDigest, precision }: ImageResult,
  ): ReuseKeys | null {
    if (file === undefined || modelDigest === undefined || precision === undefined) return null;
    const subject = this.#subject(keyId, { options, used }, { modelDigest, precision });
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
    { options, keyId, reuse }: JobSettings,
    images: readonly WaitingImage[],
    { digest, precision }: ModelVersion,
  ) {
    const { look, views, store } = this.#parts;
    const files = await look(
      images.map(({ path }) => path),
      reuse === 'content',
    );
    const wanted = images.flatMap(({ index, path }, at) => {
      const file = files[at];
      if (file === null || file === undefined) return [];
      const resolved = views.resolve(options, path, keyId);
      const subject = this.#subject(keyId, resolved, { modelDigest: digest, precision });
      return [{ index, keys: reuseKeys(subject, path, file.stamp, file.digest) }];
    });
    const found = await store.reusable(
      keyId,
      wanted.map(({ keys }) => keys),
    );
    const taken = new Map<number, TakenOver>();
    wanted.forEach(({ index, keys }, at) => {
      const stored = found[at];
      if (stored) taken.set(index, { ...stored, keys });
    });
    return taken;
  }

  #subject(
    owner: string | null,
    { options, used }: Resolved,
    model: Pick<ReuseSubject, 'modelDigest' | 'precision'>,
  ): ReuseSubject {
    const { environment } = this.#parts;
    return { environment, owner, options, view: used.view, ...model };
  }
}
