/**
 * Whether a worker sees the image folders that the service sees. A mount point whose volume is gone is an ordinary
 * empty folder: a file that the service has tells it from the volume.
 */
import { ERRORS, LatticeError, toLatticeError } from '../../api/errors.js';
import type { Logger } from '../../base/logger-port.js';

export interface VolumeProofParts {
  workerId: string;
  nodeId: string;
  /** Opens the file on the service, by the rules of detection. */
  openHere(path: string): Promise<unknown>;
  /** Opens the file on the worker, by the same rules. */
  openThere(path: string): Promise<unknown>;
  logger: Pick<Logger, 'error' | 'info'>;
}

type Found = 'yes' | 'no' | 'unknown';

export class VolumeProof {
  readonly #parts: VolumeProofParts;
  /** A file that the service has and the worker lacks. */
  #missing: string | null = null;
  #checking = false;

  constructor(parts: VolumeProofParts) {
    this.#parts = parts;
  }

  /** Null while nothing speaks against the worker's folders. */
  get fault(): LatticeError | null {
    return this.#missing === null ? null : this.#refusal('an image');
  }

  /** The worker lacks `path`. Resolves with null when the service lacks it too. Never rejects. */
  async refusalOf(path: string): Promise<LatticeError | null> {
    if ((await found(this.#parts.openHere(path))) !== 'yes') return null;
    if (this.#missing === null && (await found(this.#parts.openThere(path))) === 'no') {
      this.#note(path);
    }
    return this.#refusal('this image');
  }

  /** Looks for the file again that the worker lacked; without one, for `known`, which another worker has read. */
  async check(known: string | null): Promise<void> {
    const path = this.#missing ?? known;
    if (path === null || this.#checking) return;
    this.#checking = true;
    const there = await found(this.#parts.openThere(path));
    if (there === 'yes') this.#note(null);
    else if (there === 'no') {
      const here = await found(this.#parts.openHere(path));
      if (here !== 'unknown') this.#note(here === 'yes' ? path : null);
    }
    this.#checking = false;
  }

  #note(missing: string | null): void {
    if ((missing === null) === (this.#missing === null)) return;
    const { workerId, nodeId, logger } = this.#parts;
    const path = missing ?? this.#missing;
    this.#missing = missing;
    const fields = { workerId, nodeId, path };
    if (missing === null) logger.info(fields, 'a worker sees the image folders again');
    else
      logger.error(fields, 'a worker lacks an image that the service has: is its volume mounted?');
  }

  #refusal(what: string): LatticeError {
    return new LatticeError(
      'volume_unavailable',
      `Node ${this.#parts.nodeId} lacks ${what} that the service has: is its volume mounted?`,
      { retryAfterS: 10 },
    );
  }
}

/** A file that is there may still be refused, for its size for example. */
async function found(opened: Promise<unknown>): Promise<Found> {
  try {
    await opened;
    return 'yes';
  } catch (thrown) {
    const { of, ofNode } = ERRORS[toLatticeError(thrown).code];
    if (of !== 'image') return 'unknown';
    return ofNode === true ? 'no' : 'yes';
  }
}
