/** A model under the self-check, without a core. */
import { CanaryWatch, type CanaryWatchOptions } from '../../src/models/self-check/canary-watch.js';
import { ClassFilter } from '../../src/models/class-filter.js';
import type { LoadedModel, ModelDevice } from '../../src/models/loaded-model.js';
import { nativeModel } from './native-model.js';

/** As the registry makes it. */
export function loadedModel(name = 'a.pt'): LoadedModel {
  return {
    file: { name, path: '/a.onnx', bundled: false, licence: null, canaryPath: null },
    native: nativeModel(),
    classes: new ClassFilter(['car']),
    lastUse: 0,
    distrust: null,
    faults: new Map(),
  };
}

/** Indices with a gap, as where a GPU in between cannot be used. */
export function devicesOf(count: number): ModelDevice[] {
  return Array.from({ length: count }, (_, place) => ({
    index: 2 * place,
    name: 'GPU',
    state: 'ok' as const,
  }));
}

export type WatchParts = Pick<CanaryWatchOptions, 'look' | 'devices' | 'judge' | 'loaded'> & {
  /** Receives errors. */
  log(fields: object, message: string): void;
  answerWithinMs?: number;
};

/** `parts` may change later. */
export function watchModel(parts: WatchParts): CanaryWatch {
  const ignore = () => undefined;
  const { answerWithinMs } = parts;
  return new CanaryWatch({
    look: (model, picture, device) => parts.look(model, picture, device),
    devices: (model) => parts.devices(model),
    judge: (model, device, right) => {
      parts.judge(model, device, right);
    },
    loaded: () => parts.loaded(),
    picture: { data: new Uint8Array(3 * 64 * 64), width: 64, height: 64 },
    minutes: 0,
    logger: {
      debug: ignore,
      info: ignore,
      warn: ignore,
      error: (fields, message) => {
        parts.log(fields, message);
      },
    },
    ...(answerWithinMs === undefined ? {} : { answerWithinMs }),
  });
}
