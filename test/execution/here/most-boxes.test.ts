/** Pictures with more boxes than an engine gives, as a GPU has a limit, by a core that stands in for one. */
import { expect, it } from 'vitest';
import { DEFAULT_PARAMETERS, type DetectOptions } from '../../../src/api/options.js';
import { unpackFound } from '../../../src/boxes/found-boxes.js';
import { NativeWorker } from '../../../src/execution/here/native-worker.js';
import { ClassFilter } from '../../../src/models/class-filter.js';
import { EngineBuild } from '../../../src/models/engine-build.js';
import type { LoadedModel } from '../../../src/models/loaded-model.js';
import type { ModelRegistry } from '../../../src/models/model-registry.js';
import type { Core, CoreTask, RawResult } from '../../../src/native/core.js';
import { silent } from '../../support/silent-logger.js';

const MOST = 3;
const NAMES = ['car', 'person'];
/** Persons first, in steps of 0.05 from 0.95 down: score, class. */
const SEEN = [
  [0.95, 1],
  [0.9, 1],
  [0.85, 1],
  [0.8, 1],
  [0.75, 0],
  [0.7, 0],
  [0.1, 0],
] as const;

const ignore = () => undefined;

function openWorker() {
  const tasks: CoreTask[] = [];
  const run = (task: CoreTask): Promise<RawResult> => {
    tasks.push(task);
    const { confidence, classIds } = task;
    const passing = SEEN.filter(
      ([score, id]) => score > confidence && (classIds?.includes(id) ?? true),
    );
    const rows = passing.slice(0, MOST).flatMap(([score, id]) => [0, 0, 10, 10, score, id]);
    return Promise.resolve({
      width: 100,
      height: 100,
      boxes: Float32Array.from(rows),
      timings: { queue: 0, decode: 0, preprocess: 0, inference: 0, postprocess: 0 },
      batch: 1,
      truncated: passing.length > MOST,
      totalMs: 1,
      tiles: null,
      file: null,
      look: null,
      position: null,
      descriptors: null,
    });
  };
  const model = {
    native: { modelId: 1, names: NAMES } as unknown as LoadedModel['native'],
    version: { digest: 'a', source: 'a', precision: 'fp16' },
    classes: new ClassFilter(NAMES),
    distrust: null,
  };
  const registry = { ready: () => model, hold: ignore, release: ignore };
  const worker = new NativeWorker({
    workerId: 'gpu',
    nodeId: 'here',
    scoreFloor: 0.05,
    positions: true,
    threads: 1,
    core: { run } as unknown as Core,
    registry: registry as unknown as ModelRegistry,
    selfCheck: { stop: ignore },
    build: new EngineBuild({ share: () => -1, logger: silent }),
    larger: { close: () => Promise.resolve() },
    spelling: { open: (path, open) => open(path) },
    explain: () => ({ device: 'cuda', gpus: 1, precision: 'fp16', reason: '' }),
  });
  const detect = (options: Partial<DetectOptions>) =>
    worker.detect({
      path: 'a.jpg',
      kind: 'async',
      scoreFloor: 0.05,
      options: { modelName: 'm.pt', ...DEFAULT_PARAMETERS, classes: null, ...options },
    });
  return { detect, tasks };
}

const scores = (boxes: readonly { confidence: number }[]) =>
  boxes.map(({ confidence }) => confidence);

it('the best boxes of other classes take no place of those that are asked for', async () => {
  const { detect, tasks } = openWorker();
  const { detections, truncated, found } = await detect({ classes: ['car'] });
  expect([scores(detections), truncated]).toEqual([[0.75, 0.7], false]);
  expect(tasks.map(({ confidence, classIds }) => [confidence, classIds])).toEqual([
    [0.05, null],
    [0.5, [0]],
  ]);
  // The job keeps the best of all, and that there are more.
  const kept = unpackFound(found!);
  expect([scores(kept.detections), kept.isCut, kept.floor]).toEqual([
    [0.95, 0.9, 0.85],
    true,
    0.85,
  ]);
});

it('without classes the picture says that it has more', async () => {
  const { detect, tasks } = openWorker();
  const { detections, truncated } = await detect({});
  expect([scores(detections), truncated, tasks.length]).toEqual([[0.95, 0.9, 0.85], true, 1]);
});

it('a threshold above the last box needs no second run', async () => {
  const { detect, tasks } = openWorker();
  const { detections, truncated } = await detect({ classes: ['person'], confidence: 0.88 });
  expect([scores(detections), truncated, tasks.length]).toEqual([[0.95, 0.9], false, 1]);
});
