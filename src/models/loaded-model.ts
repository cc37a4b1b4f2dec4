/** A loaded model, as the callers that request boxes see it. */
import type { LatticeError } from '../api/errors.js';
import type { ModelVersion } from '../api/schemas/model.js';
import type { NativeModel } from '../native/contract.js';
import type { ClassFilter } from './class-filter.js';
import type { ModelFile } from './model-folder.js';

/** Digits of the SHA-256 that are shown; so many tell files apart. */
const DIGEST_DIGITS = 16;

/** The digest in the form that results have. */
export function shortDigest(sha256: string): string {
  return sha256.slice(0, DIGEST_DIGITS);
}

export interface LoadedModel {
  file: ModelFile;
  /** Fingerprint of the files that it was loaded from, see `fingerprintOf`. */
  fingerprint: string;
  native: NativeModel;
  version: ModelVersion;
  classes: ClassFilter;
  /** Set from a counter at each use: the model with the smallest number was used longest ago. */
  lastUse: number;
  /** Images that use it at this moment. */
  inHand: number;
  isUnloaded: boolean;
  /**
   * Share of its boxes that agree with f32 on the CPU, on a GPU at the batch size where fewest do; null where there was
   * none to compare.
   */
  agreement: number | null;
  /** Why it runs smaller batches on a GPU than the settings name; null where it does not. */
  batchLimit: string | null;
  /** Set while the self-check finds the model blind or drifting; requests are then refused with it. */
  distrust: LatticeError | null;
}
