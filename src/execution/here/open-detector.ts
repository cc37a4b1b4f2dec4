/** Opens the worker of this process from settings. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { GpuState } from '../../api/gpu-reading.js';
import { PACKAGE_ROOT } from '../../base/package.js';
import type { Config } from '../../settings/config.js';
import { toLatticeError, type LatticeError } from '../../api/errors.js';
import { inTime } from '../../base/in-time.js';
import type { Logger } from '../../base/logger-port.js';
import { makeFolder } from '../../base/make-folder.js';
import { checkEngine, isCompared } from '../../models/engine-agreement.js';
import { EngineBuild } from '../../models/engine-build.js';
import { LargerBatches } from '../../models/larger-batches.js';
import { ModelFolder, withSuffix, type ModelFile } from '../../models/model-folder.js';
import { lookAheadBytes, modelMemoryBudget } from '../../models/model-memory.js';
import { ModelRegistry, type ModelChange } from '../../models/model-registry.js';
import { readPicture } from '../../models/self-check/model-check.js';
import { SelfCheck } from '../../models/self-check/self-check.js';
import { OtherSpelling } from '../../files/other-spelling.js';
import { gpus, openCore } from '../../native/core.js';
import type { NativeModel } from '../../native/contract.js';
import { readBatches, readRectangles } from '../../settings/settings.js';
import { bf16Features, chooseDevice, explainChoice } from './compute-choice.js';
import { startGpuReadings } from './gpu-readings.js';
import { NativeWorker } from './native-worker.js';
import { readGpu } from './nvidia-smi.js';
import { watchVolumes } from './volume-watch.js';

/** A worker process must have connected within 2 minutes of its start, whatever it has to load. */
const PRELOAD_WITHIN_MS = 60_000;
/** Between two looks at the files of the loaded models. */
const MODELS_LOOK_MS = 1_000;

export interface OpenDetectorOptions {
  workerId?: string;
  /** File for the task ids in hand when a crash signal kills the process. */
  crashMarkerPath?: string;
  /** Names of models to load after the default one. */
  preload?: readonly string[];
  /** Called once when the GPU is lost: the process should exit for its supervisor. */
  onGpuLost?(error: LatticeError): void;
  /** Folder of `manifest.json` and the self-check picture. */
  bundledDir?: string;
  /** Test only, see `NativeCoreOptions`. No setting leads here. */
  abortOnPathSuffix?: string;
}

/**
 * Starts the native core, loads the default model, checks it with the bundled picture and loads the models of
 * `preload`; returns sooner where an engine has to be built first, or after a minute. Rejects when the device of the
 * settings is not there. A default model that is missing or unfit shows in `unhealthy()`: the service starts and serves
 * other models.
 */
export async function openDetector(
  config: Config,
  logger: Logger,
  options: OpenDetectorOptions = {},
): Promise<NativeWorker> {
  const usable = gpus();
  const choice = chooseDevice(config, usable);
  const gpu = choice.device === 'cuda' ? usable.gpus[0] : undefined;
  const onGpu = gpu !== undefined;
  const rectangles = readRectangles(config.rectangles) ?? 'auto';
  makeEngineFolder(config.engineCacheDir, onGpu);
  if (onGpu && rectangles !== 'auto' && rectangles.length > 0) {
    logger.warn({}, "GPUs run a model's own input: no rectangles");
  }
  const bundledDir = options.bundledDir ?? join(PACKAGE_ROOT, 'models');
  const picture = await readPicture(join(bundledDir, 'demo', 'street.jpg'));
  const folder = await ModelFolder.open(config, bundledDir);
  const onDeviceLost = (error: LatticeError) => {
    logger.error({ code: error.code, fault: error.message }, 'the GPU is lost');
    options.onGpuLost?.(error);
  };
  const computed = {
    threads: config.threads,
    ...(rectangles === 'auto' ? {} : { rectangles }),
  };
  const computing = {
    device: choice.device,
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
      crashMarkerPath: options.crashMarkerPath ?? '',
      ...(options.abortOnPathSuffix === undefined
        ? {}
        : { abortOnPathSuffix: options.abortOnPathSuffix }),
    },
    onDeviceLost,
  );
  const engineFolder = config.engineCacheDir;
  const larger = new LargerBatches({
    core,
    openBuilder: (batch) =>
      openCore(
        { ...computing, roots: [], threads: 1, gpuBatches: [batch], hardwareDecode: false },
        onDeviceLost,
      ),
    engineFolder,
    threads: config.threads,
    logger,
  });
  const selfCheck = new SelfCheck({ core, picture, logger });
  const registry = new ModelRegistry({
    folder,
    loader: {
      loadModel: async (path, how) =>
        namingFacts(await larger.givingWay(() => core.loadModel(path, how)), path, logger),
      unloadModel: (modelId) => {
        core.unloadModel(modelId);
      },
    },
    // A GPU runs the model itself: no copy is looked for, and none is to blame for a model that fails.
    precision: onGpu ? 'f32' : config.precision,
    onUnfitCopy: (name, fault) => {
      logger.warn({ model: name, fault }, 'the 8-bit copy is left aside');
    },
    onUnfitNetwork: (name, fault, next) => {
      const text = next.anew === true ? 'is compiled anew' : 'is compiled in f32';
      logger.warn({ model: name, fault }, `a network is unfit and ${text}`);
    },
    admit: async (model) => {
      if (isCompared(model)) await checkEngine(model, { core, engineFolder, ...computed });
      if (onGpu) await larger.addKept(model);
      await selfCheck.admit(model);
      larger.build(model);
    },
    memoryBudget: modelMemoryBudget(config.modelMemoryMb, choice.device),
    onChange: (change) => {
      logChange(change, logger);
    },
  });
  const build = new EngineBuild({ share: () => core.stats().buildShare, logger });
  if (onGpu) build.start();
  const features = bf16Features();
  const gpuState = (): GpuState => {
    if (core.deviceLost !== null) return 'lost';
    return registry.loaded().some(({ distrust }) => distrust !== null) ? 'failed_check' : 'ok';
  };
  const worker = new NativeWorker({
    workerId: options.workerId ?? `local-${randomBytes(4).toString('hex')}`,
    nodeId: hostname(),
    threads: config.threads,
    core,
    registry,
    selfCheck,
    build,
    larger,
    spelling: new OtherSpelling(config.imageRoots),
    ...(gpu === undefined
      ? {}
      : {
          gpuReadings: startGpuReadings({
            gpu,
            read: () => readGpu(gpu.busId),
            state: gpuState,
            isClosed: () => core.isClosed,
          }),
        }),
    explain: (loaded) => explainChoice(config, choice, loaded, features),
  });
  const prepared = worker.prepareDefault().then(async (fault) => {
    const file = await folder.find(folder.defaultName).catch(() => null);
    report(worker, file, fault, logger);
  });
  const preloaded = prepared.then(() => preload(worker, options.preload ?? [], logger));
  // Other models may be served, and status shows the progress, while an engine is built.
  const inBackground = () => undefined;
  await build.orNotReady(prepared).catch(inBackground);
  await inTime(build.orNotReady(preloaded).catch(inBackground), PRELOAD_WITHIN_MS, undefined);
  selfCheck.start(() => registry.loaded(), config.canaryMinutes);
  watchModels(worker);
  watchVolumes({
    roots: config.imageRoots,
    hanging: () => (core.isClosed ? null : core.stats().hangingRoots),
    logger,
  });
  return worker;
}

/** One look at a time: a volume may hang. */
function watchModels(worker: NativeWorker): void {
  const look = async () => {
    await worker.refreshModels();
    if (!worker.isClosed) setTimeout(() => void look(), MODELS_LOOK_MS).unref();
  };
  setTimeout(() => void look(), MODELS_LOOK_MS).unref();
}

function logChange(change: ModelChange, logger: Logger): void {
  const { kind, model, from } = change;
  const facts = { model, digest: from.digest };
  switch (kind) {
    case 'swapped': {
      const { digest, precision } = change.to;
      logger.info({ model, digest, precision, replaced: from.digest }, 'a model file was replaced');
      break;
    }
    case 'removed':
      logger.warn(facts, 'a model file was removed; running jobs finish on it');
      break;
    case 'refused': {
      const { code, message: fault } = change.error;
      const text = 'a model file was replaced by one that cannot be used; the earlier one goes on';
      logger.error({ ...facts, code, fault }, text);
    }
  }
}

/** In order. A model that cannot be loaded is named in the log; a request for it gets the same reason. */
async function preload(
  worker: NativeWorker,
  names: readonly string[],
  logger: Logger,
): Promise<void> {
  for (const name of new Set(names.map(withSuffix))) {
    const since = performance.now();
    try {
      await worker.prepare(name);
      logger.info({ model: name, ms: Math.round(performance.now() - since) }, 'model preloaded');
    } catch (thrown) {
      const { code, message } = toLatticeError(thrown);
      if (code === 'shutting_down') return;
      logger.warn({ model: name, code, fault: message }, 'a model cannot be preloaded');
    }
  }
}

/** The folder above it is there for the core to make it. */
function makeEngineFolder(folder: string, onGpu: boolean): void {
  try {
    makeFolder(dirname(folder));
  } catch (error) {
    // On the CPU networks are then compiled at each start.
    if (onGpu) throw error;
  }
}

/**
 * Logs once which options of the operator this model cannot apply, and which of its kept files were damaged on disk.
 */
function namingFacts(model: NativeModel, path: string, logger: Logger): NativeModel {
  for (const fault of model.replaced) {
    logger.warn({ model: basename(path), fault }, 'a kept file is damaged; it is made anew');
  }
  for (const reason of model.without) {
    logger.warn({ model: basename(path), reason }, 'a model runs without something asked for');
  }
  return model;
}

function report(
  worker: NativeWorker,
  model: ModelFile | null,
  fault: LatticeError | null,
  logger: Logger,
): void {
  const { device, precision, reason } = worker.stats();
  const standsFor = model?.bundled === true ? { bundledModel: basename(model.path) } : {};
  if (fault === null) {
    const ready = { model: model?.name, ...standsFor, device, precision, reason };
    logger.info(ready, 'detector ready');
    const missing = worker.missingHardwareDecode();
    if (missing !== null) logger.info({ reason: missing }, 'JPEGs are decoded on the CPU only');
  } else logger.error({ code: fault.code, fault: fault.message }, 'default model cannot be used');
}
