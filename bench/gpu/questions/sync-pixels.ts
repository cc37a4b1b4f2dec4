/** How much is added to the network's own time for one image that is decoded already? The sides take turns. */
import { median, summarise } from '../../load/percentiles.js';
import { against, type Answer, type Figure, type Goal } from '../answer.js';
import type { ModelSize, Plan, PlannedModel } from '../plan.js';
import { loadWhole, openRig, pixelTask, type Rig } from '../rig.js';
import { openBatchTimer } from '../batch-times.js';

const GOALS: Partial<Record<ModelSize, Goal>> = { n: { atMost: 1.15 }, x: { atMost: 1.03 } };

interface Row {
  name: string;
  network: number;
  figures: Figure[];
}

export default async function syncPixels(plan: Plan): Promise<Answer> {
  await using rig = openRig(plan);
  const rows: Row[] = [];
  for (const planned of plan.models) rows.push(await timed(plan, rig, planned));
  const wholes = rows.map(({ figures }) => figures[0]!.value);
  return {
    title: 'One image from decoded pixels',
    figures: rows.flatMap(({ figures }) => figures),
    notes: [
      'Batch: pixels to the GPU, letterbox, network, boxes back. In the addon: with its queue and threads. ' +
        'For the caller: also the copy of the pixels and the way back through the JavaScript thread.',
    ],
    charts: [
      {
        name: 'sync-pixels',
        title: 'One image from decoded pixels, p50',
        unit: 'ms',
        kind: 'bars',
        categories: rows.map(({ name }) => name),
        series: [
          { name: 'network only', values: rows.map(({ network }) => network) },
          { name: 'batch of one', values: wholes },
          { name: 'for the caller', values: rows.map(({ figures }) => figures[2]!.value) },
        ],
      },
    ],
  };
}

async function timed(plan: Plan, rig: Rig, { name, file, size }: PlannedModel): Promise<Row> {
  const { rounds, samples } = plan.effort;
  const model = await loadWhole(rig.core, file);
  await using timer = openBatchTimer(plan, rig.core, model, file);
  const sides = {
    network: [] as number[],
    batch: [] as number[],
    addon: [] as number[],
    caller: [] as number[],
  };
  for (let round = -1; round < rounds; round += 1) {
    const times = await timer.time(1, Math.min(samples, 50));
    const kept = round >= 0;
    if (kept) {
      sides.network.push(times.networkMs);
      sides.batch.push(times.wholeMs);
    }
    for (let turn = 0; turn < samples; turn += 1) {
      const start = performance.now();
      const { totalMs } = await rig.core.run(pixelTask(model, 'sync'));
      if (!kept) continue;
      sides.caller.push(performance.now() - start);
      sides.addon.push(totalMs);
    }
  }
  rig.core.unloadModel(model.modelId);
  const network = median(sides.network);
  const figure = (what: string, value: number, goal?: Goal) =>
    against(
      { what: `${name}, ${what}`, value, unit: 'ms' },
      { what: 'network only', value: network },
      goal,
    );
  return {
    name,
    network,
    figures: [
      figure('batch of one image', median(sides.batch), GOALS[size]),
      figure('in the addon, p50', summarise(sides.addon).p50, GOALS[size]),
      figure('for the caller, p50', summarise(sides.caller).p50),
    ],
  };
}
