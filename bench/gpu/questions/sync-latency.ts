/**
 * How long does one caller wait, from pixels and from JPEGs of four sizes, in process and over HTTP? All sources take
 * turns.
 */
import { dirname } from 'node:path';
import { startService, type ServiceProcess } from '../../../test/support/service-process.js';
import type { CoreTask, RawResult } from '../../../src/native/core.js';
import { HttpClient } from '../../load/http-client.js';
import { summarise } from '../../load/percentiles.js';
import { against, type Answer, type Figure } from '../answer.js';
import { mainModel, type Plan, type PlannedModel } from '../plan.js';
import { loadWhole, openRig, photoTask, pixelTask } from '../rig.js';
import { openBatchTimer } from '../batch-times.js';

interface Source {
  name: string;
  task(turn: number): CoreTask;
  waited: number[];
  /** The least possible: this image's decode and the network at batch 1. */
  floor: number[];
  /** The same photos from a service. */
  http?: { files: string[]; waited: number[] };
}

/** For a model to be loaded. */
const DEADLINE_MS = 60_000;

const SHARES = ['p50', 'p99'] as const;

export default async function syncLatency(plan: Plan): Promise<Answer> {
  await using rig = openRig(plan);
  const planned = mainModel(plan);
  const model = await loadWhole(rig.core, planned.file);
  await using timer = openBatchTimer(plan, rig.core, model, planned.file);
  const sources: Source[] = [
    { name: 'pixels', task: () => pixelTask(model, 'sync'), waited: [], floor: [] },
    ...plan.photos.map(({ name, files }) => ({
      name: `JPEG ${name}`,
      task: (turn: number) => photoTask(model, 'sync', files[turn % files.length]!),
      waited: [],
      floor: [],
      http: { files, waited: [] },
    })),
  ];
  await using service = await serve(plan, planned);
  using client = new HttpClient(service.url, 1);
  const samples = plan.effort.rounds * plan.effort.samples;
  let network = 0;
  for (let turn = -2; turn < samples; turn += 1) {
    if (turn <= 0 || turn % plan.effort.samples === 0) {
      network = (await timer.time(1, Math.min(plan.effort.samples, 20))).networkMs;
    }
    for (const source of sources) {
      const start = performance.now();
      const result: RawResult = await rig.core.run(source.task(Math.max(turn, 0)));
      const waited = performance.now() - start;
      if (turn < 0) continue;
      source.waited.push(waited);
      source.floor.push(result.timings.decode + network);
    }
    for (const { http } of sources) {
      if (http === undefined) continue;
      const photo = http.files[Math.max(turn, 0) % http.files.length]!;
      const ms = await client.detect(photo, `${planned.name}.pt`);
      if (turn >= 0) http.waited.push(ms);
    }
  }
  const figures = sources.flatMap(({ name, waited, floor, http }): Figure[] => {
    const [all, least] = [summarise(waited), summarise(floor)];
    const what = `${planned.name}, sync from ${name}`;
    return SHARES.flatMap((share) => [
      against(
        { what: `${what}, ${share}`, value: all[share], unit: 'ms' },
        { what: `decode + network, ${share}`, value: least[share] },
      ),
      ...(http === undefined
        ? []
        : [
            against(
              {
                what: `${what}, over HTTP, ${share}`,
                value: summarise(http.waited)[share],
                unit: 'ms',
              },
              { what: `in process, ${share}`, value: all[share] },
            ),
          ]),
    ]);
  });
  return {
    title: 'One synchronous caller',
    figures,
    notes: [],
    charts: [
      {
        name: 'sync-latency',
        title: `Sync latency, ${planned.name}`,
        unit: 'ms',
        kind: 'bars',
        categories: sources.map(({ name }) => name),
        series: SHARES.map((share) => ({
          name: share,
          values: sources.map(({ waited }) => summarise(waited)[share]),
        })),
        logarithmic: true,
      },
    ],
  };
}

function serve(plan: Plan, { file }: PlannedModel): Promise<ServiceProcess> {
  return startService({
    env: {
      LATTICE_DEVICE: plan.device,
      LATTICE_GPU_BATCHES: plan.gpuBatches.join(','),
      LATTICE_IMAGE_ROOTS: plan.photoRoot,
      LATTICE_MODELS_DIR: dirname(file),
      LATTICE_SYNC_DEADLINE_MS: `${DEADLINE_MS}`,
      ...(plan.engineCache === '' ? {} : { LATTICE_ENGINE_CACHE_DIR: plan.engineCache }),
    },
    timeoutMs: DEADLINE_MS,
  });
}
