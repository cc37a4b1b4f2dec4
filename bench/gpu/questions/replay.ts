/** How long does the bare network take, for each model and batch size? */
import { median } from '../../load/percentiles.js';
import type { Answer, Figure } from '../answer.js';
import type { Plan } from '../plan.js';
import { openRig } from '../rig.js';
import { timeSlices, type Slice } from '../slice.js';

export default async function replay(plan: Plan): Promise<Answer> {
  await using rig = openRig(plan);
  const times = new Map<string, Map<number, number[]>>();
  for (const { name, file } of plan.models) {
    const model = await rig.core.loadModel(file);
    const perBatch = new Map<number, number[]>();
    times.set(name, perBatch);
    for (let round = 0; round < plan.effort.rounds; round += 1) {
      for (const slice of await timeSlices(rig.core, model, roundsOf(plan))) keep(perBatch, slice);
    }
    // A small card does not hold all of them at once.
    rig.core.unloadModel(model.modelId);
  }
  const batches = [...new Set([...times.values()].flatMap((each) => [...each.keys()]))].sort(
    (a, b) => a - b,
  );
  const figures: Figure[] = [];
  for (const [name, perBatch] of times) {
    for (const [batch, samples] of perBatch) {
      const ms = median(samples);
      figures.push({ what: `${name}, batch ${batch}, network only`, value: ms, unit: 'ms' });
      figures.push({
        what: `${name}, batch ${batch}, network only, images`,
        value: (batch * 1_000) / ms,
        unit: 'images/s',
      });
    }
  }
  const series = [...times].map(([name, perBatch]) => ({
    name,
    values: batches.map((batch) => {
      const samples = perBatch.get(batch);
      return samples === undefined ? null : (batch * 1_000) / median(samples);
    }),
  }));
  const chart = { name: 'replay', title: 'Network only, by batch size', unit: 'images/s' };
  const categories = batches.map((batch) => `batch ${batch}`);
  return {
    title: 'Network only',
    figures,
    notes:
      plan.device === 'cuda'
        ? ['Replays of a recorded graph one after the other on one GPU, by its own clock.']
        : ['This engine replays no graph: the figure is the network of a lone synchronous image.'],
    charts: [{ ...chart, kind: 'lines', categories, series, logarithmic: true }],
  };
}

const roundsOf = (plan: Plan) => Math.min(plan.effort.samples, 50);

function keep(perBatch: Map<number, number[]>, slice: Slice): void {
  const samples = perBatch.get(slice.batch) ?? [];
  samples.push(slice.networkMs);
  perBatch.set(slice.batch, samples);
}
