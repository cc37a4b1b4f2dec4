/** What can the card do at most, and what share of that do networks and letterbox reach? */
import type { NativeModel } from '../../../src/native/contract.js';
import { against, type Answer, type Figure } from '../answer.js';
import { cardLimits, rooflineLimits, type CardLimits } from '../card-limits.js';
import { networkWork, type NetworkWork } from '../network-work.js';
import { readOnnxGraph } from '../onnx-graph.js';
import type { Plan, PlannedModel } from '../plan.js';
import { openRig, type Rig } from '../rig.js';
import { letterboxFloorMs, roofline, type Limits } from '../roofline.js';
import { timeSlices, type Slice } from '../slice.js';

/** Slices are timed on images of 640 x 480: planes of a JPEG on GPUs, where chroma has half the sides, else RGB. */
const SOURCE_BYTES = { cuda: 1.5 * 640 * 480, cpu: 3 * 640 * 480 };
const LETTERBOX_GOAL = { atMost: 1.6 };

interface Row {
  planned: PlannedModel;
  native: NativeModel;
  work: NetworkWork;
  slices: Slice[];
}

export default async function rooflineQuestion(plan: Plan): Promise<Answer> {
  const card = await cardLimits(plan);
  const limits = rooflineLimits(card);
  await using rig = openRig(plan);
  const rows: Row[] = [];
  for (const planned of plan.models) rows.push(await measured(plan, rig, planned));
  const counted = rows.filter(({ work }) => work.convolutions > 0);
  const batches = [
    ...new Set(counted.flatMap(({ slices }) => slices.map(({ batch }) => batch))),
  ].sort((a, b) => a - b);
  const reached = limits === null ? [] : counted;
  return {
    title: 'Limits of the card and what is reached of them',
    figures: [
      ...cardFigures(card, rows),
      ...reached.flatMap((row) => row.slices.map((slice) => share(row, limits!, slice))),
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
        series: reached.map((row) => ({
          name: row.planned.name,
          values: batches.map((batch) => {
            const slice = row.slices.find((each) => each.batch === batch);
            return slice === undefined ? null : 100 * share(row, limits!, slice).ratio!;
          }),
        })),
      },
    ],
  };
}

const notes = [
  'The roofline of a network is the smaller of two rates: its bytes at the copy bandwidth, and its multiplications and additions at the rate of the matrix product.',
  'Small batches stay in the cache, so their bytes bind less than the roofline has it.',
];

async function measured(plan: Plan, rig: Rig, planned: PlannedModel): Promise<Row> {
  const native = await rig.core.loadModel(planned.file);
  const rounds = Math.max(5, Math.min(plan.effort.samples, 50));
  const slices = await timeSlices(rig.core, native, rounds);
  rig.core.unloadModel(native.modelId);
  const work = networkWork(readOnnxGraph(planned.file), native.inputWidth, native.inputHeight);
  return { planned, native, work, slices };
}

function cardFigures(card: CardLimits, rows: readonly Row[]): Figure[] {
  const empty = rows[0]?.slices[0]?.emptyMs ?? null;
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

function share({ planned, work }: Row, limits: Limits, slice: Slice): Figure {
  const { imagesPerSecond, binding } = roofline(work, limits, slice.batch);
  return against(
    {
      what: `${planned.name}, batch ${slice.batch}, network only`,
      value: (slice.batch * 1_000) / slice.networkMs,
      unit: 'images/s',
    },
    { what: `roofline, bound by ${binding}`, value: imagesPerSecond },
  );
}

/** The goal is about large batches: one image stays in the cache, and starting its kernel costs more. */
function letterboxFigures(
  { planned, native, slices }: Row,
  card: CardLimits,
  sourceBytes: number,
): Figure[] {
  const input = { width: native.inputWidth, height: native.inputHeight };
  return slices.map(({ batch, letterboxMs }, index) =>
    against(
      { what: `${planned.name}, letterbox of ${batch}`, value: letterboxMs * 1_000, unit: 'us' },
      {
        what: 'its bytes at copy bandwidth',
        value: letterboxFloorMs(card, batch, sourceBytes, input) * 1_000,
      },
      index === slices.length - 1 ? LETTERBOX_GOAL : undefined,
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
