/** A model under the self-check, on a core that answers what a test says. */
import { ClassFilter } from '../../src/models/class-filter.js';
import type { LoadedModel } from '../../src/models/loaded-model.js';
import type { Picture } from '../../src/models/self-check/model-check.js';
import { SelfCheck } from '../../src/models/self-check/self-check.js';
import type { Core, CoreTask } from '../../src/native/core.js';
import { nativeModel } from './native-model.js';
import { silent } from './silent-logger.js';

/** As the registry makes it. */
export function loadedModel(name = 'a.pt', modelId = 1): LoadedModel {
  return {
    file: {
      name,
      path: '/a.onnx',
      bundled: false,
      aliasOf: null,
      licence: null,
      knownPicturePath: null,
    },
    fingerprint: '',
    native: nativeModel({ modelId }),
    version: { digest: '', source: '', precision: 'f32' },
    inHand: 0,
    isUnloaded: false,
    classes: new ClassFilter(['car']),
    lastUse: 0,
    agreement: null,
    batchLimit: null,
    distrust: null,
  };
}

/** One box as the addon gives it: corners, score, class. */
export const BOX = Float32Array.of(0, 0, 10, 10, 0.5, 0);
export const BLIND = new Float32Array();

export interface CheckParts {
  /** Rows of boxes for a task of the check. */
  run(task: CoreTask & { pixels: Picture }): Promise<Float32Array>;
  loaded(): LoadedModel[];
  /** Receives errors. */
  log(fields: object, message: string): void;
}

/** `parts` may change later. */
export function selfCheckOf(parts: CheckParts): SelfCheck {
  const run = async (task: CoreTask) => ({
    boxes: await parts.run(task as CoreTask & { pixels: Picture }),
  });
  const selfCheck = new SelfCheck({
    core: { run } as unknown as Core,
    picture: { data: new Uint8Array(3 * 64 * 64), width: 64, height: 64 },
    logger: {
      ...silent,
      error: (fields, message) => {
        parts.log(fields, message);
      },
    },
  });
  selfCheck.start(() => parts.loaded(), 0);
  return selfCheck;
}
