/** Opens the worker of this process from settings. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import type { GpuState } from '../../api/schemas/gpu-reading.js';
import { PACKAGE_ROOT } from '../../base/package.js';
import type { Config } from '../../settings/config.js';
import { toLatticeError, type LatticeError } from '../../api/errors.js';
import { inTime } from '../../base/in-time.js';
import type { Logger } from '../../base/logger-port.js';
import { EngineBuild } from '../../models/engine-build.js';
import { ModelFolder, withSuffix, type ModelFile } from '../../models/model-folder.js';
import { readPicture } from '../../models/self-check/model-check.js';
import { SelfCheck } from '../../models/self-check/self-check.js';
import { OtherSpelling } from '../../files/other-spelling.js';
import { gpus } from '../../native/core.js';
import { bf16Features, chooseDevice, explainChoice } from './compute-choice.js';
import { startGpuReadings } from './gpu-readings.js';
import { NativeWorker } from './native-worker.js';
import { readGpu } from './nvidia-smi.js';
import { openDetectorCore } from './open-core.js';
import { openModels } from './open-models.js';
import { monitorVolumes } from './volume-monitor.js';

/** A worker process must have connected within 2 minutes of its start, whatever it has to load. */
const PRELOAD_WITHIN_MS = 60_000;
/** Pause between two looks at the files of the loaded models. */
const MODELS_LOOK_MS = 1_000;

export interface OpenDetectorOptions {
  workerId?: string;
  /** File for the task ids in hand when a crash signal kills the process. */
  crashMarkerPath?: string;
  /** The model that is loaded at the start and that health is about; left out: the default one. */
  mainModel?: string;
  /** Names of models to load after it. */
  preload?: readonly string[];
  /** Called once when the GPU is lost: the process should exit for its supervisor. */
  onGpuLost?(error: LatticeError): void;
  /** Folder of `manifest.json` and the self-check picture. */
  bundledDir?: string;
  /** Test only, see `NativeCoreOptions`. No setting leads here. */
  abortOnPathSuffix?: string;
}

export interface StartedDetector {
  worker: NativeWorker;
  /**
   * Resolves when the models are loaded; sooner where an engine has to be built first, or after a minute. Never
   * rejects: a default model that is missing or unfit shows in `unhealthy()`, and others are served.
   */
  loaded: Promise<void>;
}

/** As `startDetector`, once its models are loaded. */
export async function openDetector(
  config: Config,
  logger: Logger,
  options: OpenDetectorOptions = {},
): Promise<NativeWorker> {
  const { worker, loaded } = await startDetector(config, logger, options);
  await loaded;
  return worker;
}

/**
 * Starts the native core and begins to load the main model, to check it with the bundled picture and to load the models
 * of `preload`. Rejects when the device of the settings is not there.
 */
export async function startDetector(
  config: Config,
  logger: Logger,
  options: OpenDetectorOptions = {},
): Promise<StartedDetector> {
  const usable = gpus();
  const choice = chooseDevice(config, usable);
  const gpu = choice.device === 'cuda' ? usable.gpus[0] : undefined;
  const bundledDir = options.bundledDir ?? join(PACKAGE_ROOT, 'models');
  const picture = await readPicture(join(bundledDir, 'demo', 'street.jpg'));
  const folder = await ModelFolder.open(config, bundledDir);
  const { device } = choice;
  const opened = openDetectorCore({ ...options, config, device, logger });
  const { core, larger } = opened;
  const selfCheck = new SelfCheck({ core, picture, logger });
  const mainModel = withSuffix(options.mainModel ?? folder.defaultName);
  const registry = openModels({ ...opened, config, device, folder, mainModel, selfCheck, logger });
  const build = new EngineBuild({ share: () => core.stats().buildShare, logger });
  if (gpu !== undefined) build.start();
  const features = bf16Features();
  const gpuState = (): GpuState => {
    if (core.deviceLost !== null) return 'lost';
    return registry.loaded().some(({ distrust }) => distrust !== null) ? 'failed_check' : 'ok';
  };
  const worker = new NativeWorker({
    workerId: options.workerId ?? `local-${randomBytes(4).toString('hex')}`,
    nodeId: hostname(),
    threads: config.threads,
    ...{ scoreFloor: config.scoreFloor, positions: config.positions },
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
    const file = await folder.find(mainModel).catch(() => null);
    report(worker, file, fault, logger);
  });
  const preloaded = prepared.then(() => preload(worker, options.preload ?? [], logger));
  const load = async (): Promise<void> => {
    // Other models may be served, and status shows the progress, while an engine is built.
    const inBackground = () => undefined;
    await build.orNotReady(prepared).catch(inBackground);
    await inTime(build.orNotReady(preloaded).catch(inBackground), PRELOAD_WITHIN_MS, undefined);
    if (worker.isClosed) return;
    selfCheck.start(() => registry.loaded(), config.canaryMinutes);
    monitorModels(worker);
    monitorVolumes({
      roots: config.imageRoots,
      hanging: () => (core.isClosed ? null : core.stats().hangingRoots),
      logger,
    });
  };
  return { worker, loaded: load() };
}

/** Looks at the files of models at intervals, one look at a time, because a volume may hang. */
function monitorModels(worker: NativeWorker): void {
  const look = async () => {
    await worker.refreshModels();
    if (!worker.isClosed) setTimeout(() => void look(), MODELS_LOOK_MS).unref();
  };
  setTimeout(() => void look(), MODELS_LOOK_MS).unref();
}

/**
 * Loads the models in order. A model that cannot be loaded is named in the log; a request for it gets the same reason.
 */
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
