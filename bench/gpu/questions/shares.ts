/** Where does the time of a batch go: copies, letterbox, network, box decode with NMS, launch? */
import type { Answer, Figure } from '../answer.js';
import type { Plan } from '../plan.js';
import { loadWhole, openRig } from '../rig.js';
import { openBatchTimer, timeBatches, type BatchTimes } from '../batch-times.js';

const STAGES: { name: string; of(times: BatchTimes): number | null }[] = [
  { name: 'copy', of: (times) => times.copyMs },
  { name: 'letterbox', of: (times) => times.letterboxMs },
  { name: 'engine', of: (times) => times.networkMs },
  { name: 'NMS', of: (times) => times.boxesMs },
  { name: 'launch', of: (times) => times.launchMs },
];

export default async function shares(plan: Plan): Promise<Answer> {
  await using rig = openRig(plan);
  const figures: Figure[] = [];
  const categories: string[] = [];
  const measured: BatchTimes[] = [];
  for (const { name, file } of plan.models) {
    const model = await loadWhole(rig.core, file);
    await using timer = openBatchTimer(plan, rig.core, model, file);
    const rounds = Math.max(5, Math.min(plan.effort.samples, 100));
    for (const times of ends(await timeBatches(timer.time, rounds))) {
      const category = `${name}, batch ${times.batch}`;
      categories.push(category);
      measured.push(times);
      figures.push({ what: `${category}, all stages`, value: times.wholeMs, unit: 'ms' });
      for (const stage of STAGES) {
        const value = stage.of(times);
        if (value === null) continue;
        figures.push({
          what: `${category}, ${stage.name}`,
          value,
          unit: 'ms',
          baseline: { what: 'all stages', value: times.wholeMs },
          ratio: value / times.wholeMs,
        });
      }
    }
    rig.core.unloadModel(model.modelId);
  }
  const missing = STAGES.filter((stage) => measured.every((times) => stage.of(times) === null));
  const notes = missing.map(
    ({ name }) => `The share of ${name} is not reported by this engine, so none is given.`,
  );
  if (plan.device === 'cuda') {
    notes.push('Stages were timed alone; launch is host time and overlaps with the copies.');
  }
  const series = STAGES.map((stage) => ({
    name: stage.name,
    values: measured.map((times) => stage.of(times)),
  }));
  return {
    title: 'Stages of a batch',
    figures,
    notes,
    charts: [
      {
        name: 'shares',
        title: 'Share of each stage',
        unit: '% of the sum of stages',
        kind: 'stack',
        categories,
        series: asShares(series),
      },
    ],
  };
}

/** The smallest and the largest. */
function ends(all: BatchTimes[]): BatchTimes[] {
  return all.filter((_, index) => index === 0 || index === all.length - 1);
}

function asShares(series: { name: string; values: (number | null)[] }[]) {
  return series.map(({ name, values }) => ({
    name,
    values: values.map((value, at) => {
      const sum = series.reduce((total, other) => total + (other.values[at] ?? 0), 0);
      return value === null ? null : (100 * value) / sum;
    }),
  }));
}
