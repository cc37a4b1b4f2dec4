/** A core of the CPU for pictures in memory. */
import type { Core, CoreOptions } from '../native/core.js';
import { openCore } from '../native/core.js';

/** Opens a core on the CPU in addition to the core of the service. Close it. */
export function openCpuCore(
  options: Pick<CoreOptions, 'precision' | 'threads' | 'rectangles'>,
): Core {
  return openCore({
    roots: [],
    device: 'cpu',
    maxFileBytes: 1,
    maxPixels: 64_000_000,
    maxSide: 16_384,
    ...options,
  });
}
