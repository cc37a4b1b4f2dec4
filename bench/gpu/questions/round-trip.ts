/** What does it cost to ask for nothing: through the addon, and to the GPU and back? They take turns. */
import { median } from '../../load/percentiles.js';
import type { Answer, Figure } from '../answer.js';
import { mainModel, type Plan } from '../plan.js';
import { noopTask, openRig } from '../rig.js';

const DEPTH = 100;

export default async function roundTrip(plan: Plan): Promise<Answer> {
  await using rig = openRig(plan);
  const { core } = rig;
  const model = await core.loadModel(mainModel(plan).file);
  const alone: number[] = [];
  const deep: number[] = [];
  const empty: number[] = [];
  const rounds = plan.effort.rounds * plan.effort.samples;
  for (let round = -20; round < rounds; round += 1) {
    const start = performance.now();
    await core.run(noopTask(model));
    const middle = performance.now();
    await Promise.all(Array.from({ length: DEPTH }, () => core.run(noopTask(model))));
    const end = performance.now();
    if (round < 0) continue;
    alone.push((middle - start) * 1_000);
    deep.push(((end - middle) * 1_000) / DEPTH);
  }
  for (let round = 0; round < plan.effort.rounds; round += 1) {
    const times = await core.sliceTimes(model.modelId, 1, Math.min(plan.effort.samples, 50));
    if (times !== null) empty.push(times.emptyMs * 1_000);
  }
  const sides: Figure[] = [
    { what: 'no-op through the addon, one at a time, p50', value: median(alone), unit: 'us' },
    { what: `no-op with ${DEPTH} in flight, each, p50`, value: median(deep), unit: 'us' },
  ];
  if (empty.length > 0) {
    sides.push({ what: 'empty graph to the GPU and back, p50', value: median(empty), unit: 'us' });
  }
  return {
    title: 'Empty round trips',
    figures: sides,
    notes:
      empty.length > 0
        ? []
        : ['This engine launches no graphs, so there is no round trip to a GPU to report.'],
    charts: [
      {
        name: 'round-trip',
        title: 'Empty round trips',
        unit: 'us',
        kind: 'bars',
        categories: [
          'one at a time',
          `${DEPTH} in flight, each`,
          empty.length > 0 ? 'empty graph' : 'empty graph (not reported)',
        ],
        series: [{ name: 'p50', values: [median(alone), median(deep), sides[2]?.value ?? null] }],
      },
    ],
  };
}
