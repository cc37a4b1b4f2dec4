/** The models folder and the images, for a process that runs no network. */
import type { Config } from '../../settings/config.js';
import { LatticeError } from '../../api/errors.js';
import { openCore } from '../../native/core.js';
import type { Detector } from '../detector.js';
import { ModelDigests } from '../../models/model-digests.js';
import { ModelFolder } from '../../models/model-folder.js';
import { ModelRegistry } from '../../models/model-registry.js';

export interface FileAccess extends Pick<
  Detector,
  'models' | 'prepare' | 'readImage' | 'decodeImage' | 'close'
> {
  modelDigests: ModelDigests['current'];
}

/** Models are listed and described, not loaded; images are opened by the rules of detection. */
export async function openFileAccess(config: Config): Promise<FileAccess> {
  const folder = await ModelFolder.open(config);
  const images = openImageAccess(config);
  const unloadable = {
    loadModel: () => Promise.reject(new LatticeError('invalid_model', 'No network runs here.')),
    unloadModel: () => undefined,
  };
  const registry = new ModelRegistry({
    folder,
    loader: unloadable,
    precision: 'f32',
    onUnfitCopy: () => undefined,
    onUnfitNetwork: () => undefined,
    admit: () => Promise.resolve(),
    memoryBudget: 0,
  });
  const digests = new ModelDigests(folder);
  return {
    modelDigests: () => digests.current(),
    models: () => registry.describeAll(),
    prepare: (modelName) => registry.describe(modelName),
    ...images,
  };
}

export type ImageLimits = Pick<Config, 'maxFileBytes' | 'maxPixels' | 'maxSide'>;

/** Images by the rules of detection. */
export function openImageAccess({
  imageRoots: roots,
  ...limits
}: ImageLimits & Pick<Config, 'imageRoots'>): Pick<
  FileAccess,
  'readImage' | 'decodeImage' | 'close'
> {
  const { maxFileBytes, maxPixels, maxSide } = limits;
  const core = openCore({ roots, device: 'cpu', threads: 1, maxFileBytes, maxPixels, maxSide });
  return {
    readImage: (path) => core.readFile(path),
    decodeImage: (bytes) => core.decodeImage(bytes),
    close: () => core.close(),
  };
}
