/** A model that the core holds, as everybody who asks for boxes sees it. */
import type { GpuState } from '../contract/gpu-reading.js';
import type { LatticeError } from '../errors.js';
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
  /** What the self-check finds wrong, by the index of the device. */
  faults: Map<number, string>;
}

/** The device that a model runs on. */
export interface ModelDevice {
  /** As CUDA counts in this process; 0 for the CPU. */
  index: number;
  name: string;
  /** lost: it faulted or hangs, for every model and for good. failed_check: the model failed its self-check. */
  state: GpuState;
}
