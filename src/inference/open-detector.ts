/** Puts the detector together from settings. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { PACKAGE_ROOT, type Config } from '../config.js';
import { LatticeError } from '../errors.js';
import { buildInfo, openCore } from '../native/core.js';
import { CanaryWatch } from './canary-watch.js';
import { readCanaryPicture } from './canary.js';
import { bf16Features, explainChoice } from './compute-choice.js';
import type { Logger } from './logger.js';
import { ModelFolder } from './model-folder.js';
import { ModelRegistry, type LoadedModel } from './model-registry.js';
import { lookAtPicture, NativeDetector } from './native-detector.js';

/** Ids that callers pick stay below; those picked here start there. */
const FIRST_OWN_ID = 2 ** 52;

export type DetectorConfig = Pick<
  Config,
  | 'imageRoots'
  | 'modelsDir'
  | 'modelFamily'
  | 'dataDir'
  | 'device'
  | 'precision'
  | 'threads'
  | 'jobsYield'
  | 'maxFileBytes'
  | 'maxPixels'
  | 'maxSide'
  | 'canaryMinutes'
>;

export interface OpenDetectorOptions {
  workerId?: string;
  /** File for the task ids in hand when a crash signal kills the process. */
  crashMarkerPath?: string;
  /** Folder of `manifest.json` and the self-check picture. */
  bundledDir?: string;
  /** Test only, see `NativeCoreOptions`. No setting leads here. */
  abortOnPathSuffix?: string;
}

/**
 * Starts the native core, loads the default model and checks it with the bundled picture. Rejects when the
 * device asked for is not there; a default model that is missing or unfit does not reject but shows in
 * `unhealthy()`, so that the service can start, say so and serve other models.
 */
export async function openDetector(
  config: DetectorConfig,
  logger: Logger,
  options: OpenDetectorOptions = {},
): Promise<NativeDetector> {
  const built = buildInfo();
  if (config.device === 'cuda' && built.cuda === null) {
    throw new LatticeError(
      'detection_failed',
      'LATTICE_DEVICE=cuda, but this build has no CUDA engine. Set LATTICE_DEVICE to auto or cpu, ' +
        'or build on a machine with the CUDA toolkit and TensorRT.',
    );
  }
  const bundledDir = options.bundledDir ?? join(PACKAGE_ROOT, 'models');
  const picture = await readCanaryPicture(join(bundledDir, 'demo', 'shapes.png'));
  const folder = await ModelFolder.open({
    modelsDir: config.modelsDir,
    bundledDir,
    defaultName: `${config.modelFamily}v8n.pt`,
  });
  const core = openCore({
    roots: config.imageRoots,
    device: config.device,
    precision: config.precision,
    threads: config.threads,
    asyncYields: config.jobsYield,
    maxFileBytes: config.maxFileBytes,
    maxPixels: config.maxPixels,
    maxSide: config.maxSide,
    crashMarkerPath: options.crashMarkerPath ?? '',
    ...(options.abortOnPathSuffix === undefined
      ? {}
      : { abortOnPathSuffix: options.abortOnPathSuffix }),
  });
  let lastId = FIRST_OWN_ID;
  const nextId = () => ++lastId;
  const canary: CanaryWatch = new CanaryWatch({
    look: (model: LoadedModel) => lookAtPicture(core, nextId(), model, picture),
    loaded: () => registry.loaded(),
    minutes: config.canaryMinutes,
    logger,
  });
  const registry: ModelRegistry = new ModelRegistry(folder, core, (model) => canary.admit(model));
  const features = bf16Features();
  const detector = new NativeDetector({
    workerId: options.workerId ?? `local-${randomBytes(4).toString('hex')}`,
    core,
    registry,
    canary,
    nextId,
    explain: (loaded) => explainChoice(config, built, loaded, features),
  });
  const fault = await detector.prepareDefault();
  const { device, precision, reason } = detector.stats();
  if (fault === null) logger.info({ device, precision, reason }, 'detector ready');
  else logger.error({ code: fault.code, fault: fault.message }, 'default model cannot be used');
  canary.start();
  return detector;
}
