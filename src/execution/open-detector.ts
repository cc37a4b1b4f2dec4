/** Puts the detector together from settings. */
import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { PACKAGE_ROOT, type Config } from '../config.js';
import { LatticeError } from '../errors.js';
import { makeFolder } from '../make-folder.js';
import { openCore, type Core, type CoreOptions, type OnDeviceLost } from '../native/core.js';
import { gpuReadings } from '../native/gpu-readings.js';
import { gpus } from '../native/gpus.js';
import type { NativeModel } from '../native/model.js';
import { readRectangles } from '../settings.js';
import { CanaryWatch } from '../models/self-check/canary-watch.js';
import { readCanaryPicture } from '../models/self-check/canary.js';
import { bf16Features, chooseDevice, explainChoice } from './compute-choice.js';
import type { Detector } from './detector.js';
import { EngineBuild } from '../models/engine-build.js';
import { createGpuReadings } from './gpu-readings.js';
import type { Logger } from '../logger-port.js';
import { watchVolumes } from './volume-watch.js';
import { lookAheadBytes } from '../models/machine-memory.js';
import type { LoadedModel, ModelDevice } from '../models/loaded-model.js';
import { ModelFolder, type ModelFile } from '../models/model-folder.js';
import { modelMemoryBudget } from '../models/model-memory.js';
import { ModelRegistry } from '../models/model-registry.js';
import { NativeDetector } from './native-detector.js';
import { lookAtPicture } from '../models/self-check/picture-look.js';
import { StandInDetector } from './stand-in-detector.js';

/** Ids that callers pick stay below; those picked here start there. */
const FIRST_OWN_ID = 2 ** 52;

export type DetectorConfig = Pick<
  Config,
  | 'imageRoots'
  | 'modelsDir'
  | 'modelFamily'
  | 'modelMemoryMb'
  | 'dataDir'
  | 'device'
  | 'precision'
  | 'threads'
  | 'jobsYield'
  | 'rectangles'
  | 'engineCacheDir'
  | 'cpuUntilReady'
  | 'maxFileBytes'
  | 'maxPixels'
  | 'maxSide'
  | 'canaryMinutes'
>;

export interface OpenDetectorOptions {
  workerId?: string;
  /** File for the task ids in hand when a crash signal kills the process. */
  crashMarkerPath?: string;
  /** Called once when the last GPU is lost: the process should leave for its supervisor. */
  onGpuLost?(error: LatticeError): void;
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
): Promise<Detector> {
  const choice = chooseDevice(config, gpus());
  if (choice.device === 'cuda') {
    makeFolder(dirname(config.engineCacheDir));
    if (config.rectangles !== '') logger.warn({}, "GPUs run a model's own input: no rectangles");
  }
  const bundledDir = options.bundledDir ?? join(PACKAGE_ROOT, 'models');
  const picture = await readCanaryPicture(join(bundledDir, 'demo', 'street.jpg'));
  const folder = await ModelFolder.open({
    modelsDir: config.modelsDir,
    bundledDir,
    defaultName: `${config.modelFamily}v8n.pt`,
  });
  const core = openNamingRoots(
    {
      roots: config.imageRoots,
      device: choice.device,
      precision: config.precision,
      threads: config.threads,
      asyncYields: config.jobsYield,
      rectangles: readRectangles(config.rectangles) ?? [],
      engineCache: config.engineCacheDir,
      maxFileBytes: config.maxFileBytes,
      maxPixels: config.maxPixels,
      maxSide: config.maxSide,
      lookAheadBytes: lookAheadBytes(),
      crashMarkerPath: options.crashMarkerPath ?? '',
      ...(options.abortOnPathSuffix === undefined
        ? {}
        : { abortOnPathSuffix: options.abortOnPathSuffix }),
    },
    (error) => {
      detector.loseDevice(error);
    },
  );
  const deviceOf = ({ native, faults }: LoadedModel): ModelDevice[] => {
    const fine = faults.size === 0 ? 'ok' : 'failed_check';
    return [{ index: 0, name: native.device, state: detector.isDeviceLost ? 'lost' : fine }];
  };
  let lastId = FIRST_OWN_ID;
  const nextId = () => ++lastId;
  const canary: CanaryWatch = new CanaryWatch({
    look: (model, shown) => lookAtPicture(core, nextId(), model, shown),
    devices: deviceOf,
    judge: () => undefined,
    picture,
    loaded: () => registry.loaded(),
    minutes: config.canaryMinutes,
    logger,
  });
  const registry: ModelRegistry = new ModelRegistry({
    folder,
    loader: {
      loadModel: async (path) => namingRectangles(await core.loadModel(path), path, logger),
      unloadModel: (modelId) => {
        core.unloadModel(modelId);
      },
    },
    admit: (model) => canary.admit(model),
    memoryBudget: modelMemoryBudget(config.modelMemoryMb, choice.device),
  });
  const build = new EngineBuild({ share: () => core.stats().buildShare, logger });
  if (choice.device === 'cuda') build.start();
  const features = bf16Features();
  const gpuSources = {
    read: gpuReadings,
    devices: () => (core.isClosed ? null : registry.loaded().flatMap(deviceOf)),
    logger,
  };
  const detector: NativeDetector = new NativeDetector({
    workerId: options.workerId ?? `local-${randomBytes(4).toString('hex')}`,
    core,
    registry,
    canary,
    build,
    nextId,
    ...(choice.device === 'cuda' ? { gpuReadings: createGpuReadings(gpuSources) } : {}),
    onGpuLost: (error) => {
      logger.error({ code: error.code, fault: error.message }, 'the last GPU is lost');
      options.onGpuLost?.(error);
    },
    explain: (loaded) => explainChoice(config, choice, loaded, features),
  });
  const prepared = detector.prepareDefault().then(async (fault) => {
    const file = await folder.find(folder.defaultName).catch(() => null);
    report(detector, file, fault, logger);
  });
  // Other models may be served, and everybody can see how far it is, while an engine is built.
  const built = await Promise.race([prepared.then(() => true), build.begun().then(() => false)]);
  canary.start();
  watchVolumes({
    roots: config.imageRoots,
    hanging: () => (core.isClosed ? null : core.stats().hangingRoots),
    logger,
  });
  if (built || config.device !== 'auto' || !config.cpuUntilReady) return detector;
  const standIn = await openDetector({ ...config, device: 'cpu' }, logger, {
    ...options,
    crashMarkerPath: '', // the GPU's core has it
  });
  return new StandInDetector({ detector, standIn, ready: prepared, logger });
}

/** The addon's messages name image folders by position, since some go to callers; this one goes to the operator. */
function openNamingRoots(options: CoreOptions, onDeviceLost: OnDeviceLost): Core {
  try {
    return openCore(options, onDeviceLost);
  } catch (error) {
    if (!(error instanceof LatticeError) || error.code !== 'image_not_found') throw error;
    const named = error.message.replace(/folder (\d+) of \d+/, (position, number) => {
      return `folder ${options.roots[Number(number) - 1] ?? position}`;
    });
    throw new LatticeError(error.code, named, { cause: error });
  }
}

/** What the operator asked for and this model cannot do is told once. */
function namingRectangles(model: NativeModel, path: string, logger: Logger): NativeModel {
  for (const reason of model.withoutRectangles) {
    logger.warn({ model: basename(path), reason }, 'a model runs without one of the rectangles');
  }
  return model;
}

function report(
  detector: NativeDetector,
  model: ModelFile | null,
  fault: LatticeError | null,
  logger: Logger,
): void {
  const { device, precision, reason } = detector.stats();
  const standsFor = model?.bundled === true ? { bundledModel: basename(model.path) } : {};
  if (fault === null) {
    const ready = { model: model?.name, ...standsFor, device, precision, reason };
    logger.info(ready, 'detector ready');
    const missing = detector.missingHardwareDecode();
    if (missing !== null) logger.info({ reason: missing }, 'JPEGs are decoded on the CPU only');
  } else logger.error({ code: fault.code, fault: fault.message }, 'default model cannot be used');
}
