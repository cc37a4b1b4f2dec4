/** Where does the time of a slice go: copies, letterbox, network, box decode with NMS, launch? */
import type { Answer, Figure } from '../answer.js';
import type { Plan } from '../plan.js';
import { openRig } from '../rig.js';
import { timeSlices, type Slice } from '../slice.js';

const STAGES: { name: string; of(slice: Slice): number | null }[] = [
  { name: 'copy', of: (slice) => slice.copyMs },
  { name: 'letterbox', of: (slice) => slice.letterboxMs },
  { name: 'engine', of: (slice) => slice.networkMs },
  { name: 'NMS', of: (slice) => slice.boxesMs },
  { name: 'launch', of: (slice) => slice.launchMs },
];

export default async function shares(plan: Plan): Promise<Answer> {
  await using rig = openRig(plan);
  const figures: Figure[] = [];
  const categories: string[] = [];
  const measured: Slice[] = [];
  for (const { name, file } of plan.models) {
    const model = await rig.core.loadModel(file);
    const all = await timeSlices(rig.core, model, Math.max(5, Math.min(plan.effort.samples, 100)));
    for (const slice of ends(all)) {
      const category = `${name}, batch ${slice.batch}`;
      categories.push(category);
      measured.push(slice);
      figures.push({ what: `${category}, whole slice`, value: slice.sliceMs, unit: 'ms' });
      for (const stage of STAGES) {
        const value = stage.of(slice);
        if (value === null) continue;
        figures.push({
          what: `${category}, ${stage.name}`,
          value,
          unit: 'ms',
          baseline: { what: 'whole slice', value: slice.sliceMs },
          ratio: value / slice.sliceMs,
        });
      }
    }
    rig.core.unloadModel(model.modelId);
  }
  const missing = STAGES.filter((stage) => measured.every((slice) => stage.of(slice) === null));
  const notes = missing.map(
    ({ name }) => `The share of ${name} is not reported by this engine, so none is given.`,
  );
  if (plan.device === 'cuda') {
    notes.push('Stages were timed alone; launch is host time and overlaps with the copies.');
  }
  const series = STAGES.map((stage) => ({
    name: stage.name,
    values: measured.map((slice) => stage.of(slice)),
  }));
  return {
    title: 'Stages of a slice',
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
function ends(slices: Slice[]): Slice[] {
  return slices.filter((_, index) => index === 0 || index === slices.length - 1);
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
