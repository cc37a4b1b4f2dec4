/** Faults that only a GPU has, given by a core that stands in for one. */
import { expect, it } from 'vitest';
import { LatticeError, type ErrorCode } from '../../../src/api/errors.js';
import { ClassFilter } from '../../../src/models/class-filter.js';
import { EngineBuild } from '../../../src/models/engine-build.js';
import type { LoadedModel } from '../../../src/models/loaded-model.js';
import type { ModelRegistry } from '../../../src/models/model-registry.js';
import { Executor } from '../../../src/execution/executor.js';
import { NativeWorker } from '../../../src/execution/here/native-worker.js';
import type { Core } from '../../../src/native/core.js';
import { DEFAULT_PARAMETERS } from '../../../src/api/options.js';
import { silent } from '../../support/silent-logger.js';

const ignore = () => undefined;

/** `fault` is what the core answers with, `share` how far the build of the model's engine is. */
function detectorOn(fault: ErrorCode, share = -1) {
  const native = { modelId: 1, names: ['car'] } as LoadedModel['native'];
  const version = { digest: 'a', source: 'a', precision: 'f32' };
  const model = { native, version, classes: new ClassFilter(['car']), distrust: null };
  const loaded = share < 0;
  const registry = {
    mainName: 'yolov8n.pt',
    ready: () => (loaded ? model : undefined),
    load: () => (loaded ? Promise.resolve(model) : new Promise(ignore)),
    loaded: () => (loaded ? [model] : []),
    keep: ignore,
    hold: ignore,
    release: ignore,
    changes: { swapped: 0, refused: 0 },
  };
  const build = new EngineBuild({ share: () => share, logger: silent });
  const core = {
    deviceLost: null as LatticeError | null,
    run: () => Promise.reject(new LatticeError(fault, 'as asked')),
    cancel: () => 0,
    stats: () => ({
      queuedSync: 0,
      queuedAsync: 0,
      lookAhead: 3,
      readAhead: 8,
      syncBatches: 2,
      hangingRoots: [],
    }),
    close: () => Promise.resolve(),
  };
  const worker = new NativeWorker({
    workerId: 'gpu',
    nodeId: 'here',
    scoreFloor: 1,
    positions: true,
    threads: 1,
    core: core as unknown as Core,
    registry: registry as unknown as ModelRegistry,
    selfCheck: { stop: ignore },
    build,
    larger: { close: () => Promise.resolve() },
    spelling: { open: (path, open) => open(path) },
    explain: () => ({ device: 'cuda', gpus: 1, precision: 'fp16', reason: '' }),
  });
  const detector = new Executor({ whyNoWorker: () => '', files: worker, syncQueue: 256 });
  detector.join(worker);
  return { detector, core, build };
}

const detect = (detector: Executor, kind: 'sync' | 'async' = 'sync', signal?: AbortSignal) =>
  detector.detect({
    path: 'a.jpg',
    kind,
    options: { modelName: 'yolov8n.pt', ...DEFAULT_PARAMETERS, classes: null },
    ...(signal === undefined ? {} : { signal }),
  });

it('a lost GPU makes the detector unhealthy', async () => {
  const { detector, core } = detectorOn('gpu_lost');
  expect(detector.unhealthy()).toBeNull();
  core.deviceLost = new LatticeError('gpu_lost', 'It faulted.');
  await expect(detect(detector)).rejects.toMatchObject({ code: 'gpu_lost', status: 503 });
  expect(detector.unhealthy()).toMatchObject({ code: 'gpu_lost' });
  await detector.close();
});

it('a GPU short of memory is not a lost GPU', async () => {
  const { detector } = detectorOn('overloaded');
  await expect(detect(detector)).rejects.toMatchObject({ code: 'overloaded', status: 503 });
  expect(detector.unhealthy()).toBeNull();
  await detector.close();
});

it('while an engine is built, callers get Retry-After and images of jobs wait', async () => {
  const { detector, build } = detectorOn('internal_error', 0.4);
  build.start();
  await expect(detect(detector)).rejects.toMatchObject({
    code: 'model_not_ready',
    retryAfterS: expect.any(Number),
  });
  expect(detector.unhealthy()).toMatchObject({ code: 'model_not_ready' });
  const over = new AbortController();
  const waiting = detect(detector, 'async', over.signal);
  const first = await Promise.race([
    waiting.catch(() => 'refused'),
    new Promise((resolve) => setTimeout(resolve, 300, 'waits')),
  ]);
  expect(first).toBe('waits');
  over.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
  await detector.close();
});
