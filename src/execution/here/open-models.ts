/** The models of this process: how they are loaded and checked, and what the log says of them. */
import { basename } from 'node:path';
import type { Logger } from '../../base/logger-port.js';
import { checkEngine, isCompared } from '../../models/engine-agreement.js';
import type { ModelFolder } from '../../models/model-folder.js';
import { modelMemoryBudget } from '../../models/model-memory.js';
import { ModelRegistry, type ModelChange } from '../../models/model-registry.js';
import type { SelfCheck } from '../../models/self-check/self-check.js';
import type { NativeModel } from '../../native/contract.js';
import type { Config } from '../../settings/config.js';
import type { DeviceChoice } from './compute-choice.js';
import type { OpenCore } from './open-core.js';

export interface ModelParts extends OpenCore {
  config: Config;
  device: DeviceChoice['device'];
  folder: ModelFolder;
  mainModel: string;
  selfCheck: SelfCheck;
  logger: Logger;
}

export function openModels(parts: ModelParts): ModelRegistry {
  const { config, device, folder, mainModel, core, larger, computed, selfCheck, logger } = parts;
  const onGpu = device === 'cuda';
  const engineFolder = config.engineCacheDir;
  return new ModelRegistry({
    folder,
    mainModel,
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
    memoryBudget: modelMemoryBudget(config.modelMemoryMb, device),
    onChange: (change) => {
      logChange(change, logger);
    },
  });
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
