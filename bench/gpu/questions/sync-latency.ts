/** How long does one caller wait, from pixels and from JPEGs of four sizes? All sources take turns. */
import type { CoreTask, RawResult } from '../../../src/native/core.js';
import { summarise } from '../../load/percentiles.js';
import { against, type Answer, type Figure } from '../answer.js';
import { mainModel, type Plan } from '../plan.js';
import { loadWhole, openRig, photoTask, pixelTask } from '../rig.js';
import { openBatchTimer } from '../batch-times.js';

interface Source {
  name: string;
  task(turn: number): CoreTask;
  waited: number[];
  /** The least possible: this image's decode and the network at batch 1. */
  floor: number[];
}

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
    })),
  ];
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
  }
  const figures = sources.flatMap(({ name, waited, floor }): Figure[] => {
    const [all, least] = [summarise(waited), summarise(floor)];
    const what = `${planned.name}, sync from ${name}`;
    return (['p50', 'p99'] as const).map((share) =>
      against(
        { what: `${what}, ${share}`, value: all[share], unit: 'ms' },
        { what: `decode + network, ${share}`, value: least[share] },
      ),
    );
  });
  return {
    title: 'One synchronous caller, in process',
    figures,
    notes: [],
    charts: [
      {
        name: 'sync-latency',
        title: `Sync latency, ${planned.name}`,
        unit: 'ms',
        kind: 'bars',
        categories: sources.map(({ name }) => name),
        series: (['p50', 'p99'] as const).map((share) => ({
          name: share,
          values: sources.map(({ waited }) => summarise(waited)[share]),
        })),
        logarithmic: true,
      },
    ],
  };
}
