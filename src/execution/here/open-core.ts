/** The native core of this process, and the larger batches that are built beside it on a GPU. */
import { dirname } from 'node:path';
import type { LatticeError } from '../../api/errors.js';
import type { Logger } from '../../base/logger-port.js';
import { makeFolder } from '../../base/make-folder.js';
import { LargerBatches } from '../../models/larger-batches.js';
import { lookAheadBytes } from '../../models/model-memory.js';
import { openCore, type Core } from '../../native/core.js';
import type { NativeInputSize } from '../../native/contract.js';
import type { Config } from '../../settings/config.js';
import { readBatches, readRectangles } from '../../settings/settings.js';
import type { DeviceChoice } from './compute-choice.js';

export interface CoreParts {
  config: Config;
  device: DeviceChoice['device'];
  /** File for the task ids in hand when a crash signal kills the process. */
  crashMarkerPath?: string | undefined;
  /** Test only, see `NativeCoreOptions`. No setting leads here. */
  abortOnPathSuffix?: string | undefined;
  onGpuLost?: ((error: LatticeError) => void) | undefined;
  logger: Logger;
}

export interface OpenCore {
  core: Core;
  larger: LargerBatches;
  /** How networks are computed, for the check of an engine. */
  computed: { threads: number; rectangles?: NativeInputSize[] };
}

export function openDetectorCore(parts: CoreParts): OpenCore {
  const { config, device, crashMarkerPath = '', abortOnPathSuffix, onGpuLost, logger } = parts;
  const onGpu = device === 'cuda';
  const rectangles = readRectangles(config.rectangles) ?? 'auto';
  makeEngineFolder(config.engineCacheDir, onGpu);
  if (onGpu && rectangles !== 'auto' && rectangles.length > 0) {
    logger.warn({}, "GPUs run a model's own input: no rectangles");
  }
  const onDeviceLost = (error: LatticeError) => {
    logger.error({ code: error.code, fault: error.message }, 'the GPU is lost');
    onGpuLost?.(error);
  };
  const computed = {
    threads: config.threads,
    ...(rectangles === 'auto' ? {} : { rectangles }),
  };
  const computing = {
    device,
    engineCache: config.engineCacheDir,
    keptBytes: config.networksMaxMb * 2 ** 20,
    maxFileBytes: config.maxFileBytes,
    maxPixels: config.maxPixels,
    maxSide: config.maxSide,
  };
  const core = openCore(
    {
      ...computing,
      roots: config.imageRoots,
      gpuBatches: readBatches(config.gpuBatches),
      // The registry picks the files in 8 bits.
      precision: config.precision === 'int8' ? 'auto' : config.precision,
      ...computed,
      asyncYields: config.jobsYield,
      lookAheadBytes: lookAheadBytes(),
      crashMarkerPath,
      ...(abortOnPathSuffix === undefined ? {} : { abortOnPathSuffix }),
    },
    onDeviceLost,
  );
  const larger = new LargerBatches({
    core,
    openBuilder: (batch) =>
      openCore(
        { ...computing, roots: [], threads: 1, gpuBatches: [batch], hardwareDecode: false },
        onDeviceLost,
      ),
    engineFolder: config.engineCacheDir,
    threads: config.threads,
    logger,
  });
  return { core, larger, computed };
}

/** The folder above it is there for the core to make it. */
function makeEngineFolder(folder: string, onGpu: boolean): void {
  try {
    makeFolder(dirname(folder));
  } catch (error) {
    // On the CPU the service runs without the folder and compiles networks at each start.
    if (onGpu) throw error;
  }
}
