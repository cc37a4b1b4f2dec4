/** How fast is the bare network per model and batch size, and what share of the limits of the card is that? */
import type { NativeModel } from '../../../src/native/contract.js';
import { against, type Answer, type Figure } from '../answer.js';
import { cardLimits, rooflineLimits, type CardLimits } from '../card-limits.js';
import { networkWork, type NetworkWork } from '../network-work.js';
import { readOnnxGraph } from '../onnx-graph.js';
import type { Plan, PlannedModel } from '../plan.js';
import { openRig, type Rig } from '../rig.js';
import { letterboxFloorMs, roofline, type Limits } from '../roofline.js';
import { openBatchTimer, timeBatches, type BatchTimes } from '../batch-times.js';

/** Batches are timed on images of 640 x 480: planes of a JPEG on GPUs, where chroma has half the sides, else RGB. */
const SOURCE_BYTES = { cuda: 1.5 * 640 * 480, cpu: 3 * 640 * 480 };
const LETTERBOX_GOAL = { atMost: 1.6 };

interface Row {
  planned: PlannedModel;
  native: NativeModel;
  work: NetworkWork;
  batches: BatchTimes[];
}

export default async function rooflineQuestion(plan: Plan): Promise<Answer> {
  const card = await cardLimits(plan);
  const limits = rooflineLimits(card);
  await using rig = openRig(plan);
  const rows: Row[] = [];
  for (const planned of plan.models) rows.push(await measured(plan, rig, planned));
  const batches = [...new Set(rows.flatMap((row) => row.batches.map(({ batch }) => batch)))].sort(
    (a, b) => a - b,
  );
  return {
    title: 'Limits of the card and what is reached of them',
    figures: [
      ...cardFigures(card, rows),
      ...rows.flatMap((row) => row.batches.flatMap((times) => networkFigures(row, limits, times))),
      ...rows.slice(0, 1).flatMap((row) => letterboxFigures(row, card, SOURCE_BYTES[plan.device])),
    ],
    notes: [...card.notes, ...rows.map(workNote), ...notes],
    charts: [
      {
        name: 'roofline',
        title: 'Share of the roofline, network only',
        unit: '%',
        kind: 'lines',
        categories: batches.map((batch) => `batch ${batch}`),
        series: rows.map((row) => ({
          name: row.planned.name,
          values: batches.map((batch) => {
            const times = row.batches.find((each) => each.batch === batch);
            const ratio = times && networkFigures(row, limits, times)[0]!.ratio;
            return ratio === undefined ? null : 100 * ratio;
          }),
        })),
      },
    ],
  };
}

const notes = [
  'The roofline of a network is the smaller of two rates: its bytes at the copy bandwidth, and its multiplications and additions at the rate of the matrix product.',
  'Small batches stay in the cache, so their bytes bind less than the roofline has it.',
  'On a GPU the bare network is a recorded graph, replayed one after the other and timed by its clock; on the CPU it is that of a lone synchronous image.',
];

async function measured(plan: Plan, rig: Rig, planned: PlannedModel): Promise<Row> {
  const native = await rig.core.loadModel(planned.file);
  const rounds = Math.max(5, Math.min(plan.effort.samples, 50));
  await using timer = openBatchTimer(plan, rig.core, native, planned.file);
  const batches = await timeBatches(timer.time, rounds);
  // A small card does not hold all models at once.
  rig.core.unloadModel(native.modelId);
  const work = networkWork(readOnnxGraph(planned.file), native.inputWidth, native.inputHeight);
  return { planned, native, work, batches };
}

function cardFigures(card: CardLimits, rows: readonly Row[]): Figure[] {
  const empty = rows[0]?.batches[0]?.emptyMs ?? null;
  return [
    { what: card.names.copy, value: card.copyGbS, unit: 'GB/s' },
    { what: 'pinned host memory to the GPU', value: card.uploadGbS, unit: 'GB/s' },
    { what: 'GPU to pinned host memory', value: card.downloadGbS, unit: 'GB/s' },
    { what: card.names.matrix, value: card.matrixTflopS, unit: 'TFLOP/s' },
    {
      what: 'empty graph to the GPU and back',
      value: empty === null ? null : empty * 1_000,
      unit: 'us',
    },
  ].flatMap(({ value, ...rest }) => (value === null ? [] : [{ ...rest, value }]));
}

/** The rate, with its roofline where the limits and the work are known, and the time. */
function networkFigures(
  { planned, work }: Row,
  limits: Limits | null,
  { batch, networkMs }: BatchTimes,
): Figure[] {
  const what = `${planned.name}, batch ${batch}, network only`;
  const rate = { what, value: (batch * 1_000) / networkMs, unit: 'images/s' };
  const time = { what: `${what}, time`, value: networkMs, unit: 'ms' };
  if (limits === null || work.convolutions === 0) return [rate, time];
  const { imagesPerSecond, binding } = roofline(work, limits, batch);
  return [against(rate, { what: `roofline, bound by ${binding}`, value: imagesPerSecond }), time];
}

/** The goal applies to large batches: one image stays in the cache, and starting its kernel takes longer. */
function letterboxFigures(
  { planned, native, batches }: Row,
  card: CardLimits,
  sourceBytes: number,
): Figure[] {
  const input = { width: native.inputWidth, height: native.inputHeight };
  return batches.map(({ batch, letterboxMs }, index) =>
    against(
      { what: `${planned.name}, letterbox of ${batch}`, value: letterboxMs * 1_000, unit: 'us' },
      {
        what: 'its bytes at copy bandwidth',
        value: letterboxFloorMs(card, batch, sourceBytes, input) * 1_000,
      },
      index === batches.length - 1 ? LETTERBOX_GOAL : undefined,
    ),
  );
}

function workNote({ planned, work }: Row): string {
  if (work.convolutions === 0) {
    return `${planned.name}: no convolution could be counted, so it has no roofline here.`;
  }
  const { convolutions, flops, activationBytes, weightBytes } = work;
  return (
    `${planned.name}: ${(flops / 1e9).toFixed(2)} GFLOP and ${(activationBytes / 1e6).toFixed(1)} MB of feature maps ` +
    `an image, ${(weightBytes / 1e6).toFixed(1)} MB of weights, ${convolutions} convolutions.`
  );
}
