/** A model that the core holds, as everybody who asks for boxes sees it. */
import type { LatticeError } from '../api/errors.js';
import type { NativeModel } from '../native/contract.js';
import type { ClassFilter } from './class-filter.js';
import type { ModelFile } from './model-folder.js';

export interface LoadedModel {
  file: ModelFile;
  native: NativeModel;
  classes: ClassFilter;
  /** Counts up with every use of any model: the least one was used longest ago. */
  lastUse: number;
  /** Set while the self-check finds the model blind or drifting; requests are then refused with it. */
  distrust: LatticeError | null;
}
