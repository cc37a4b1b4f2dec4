/**
 * `npm run parity`: are our boxes the reference's boxes? Starts the service, sends it every photo of the shared
 * test data, compares with boxes of an independent pipeline and with labels, prints the figures and exits
 * non-zero when a goal is missed. `--in-process` asks the detector directly, `--f32` / `--bf16` / `--fp16` (on the
 * GPU) some precisions only, `--misses` lists each box without a partner.
 */
import { join } from 'node:path';
import { bf16Features } from '../src/execution/here/compute-choice.js';
import { meanAveragePrecision } from '../src/boxes/average-precision.js';
import { DEFAULT_VEHICLES } from '../src/api/options.js';
import type { Detection } from '../src/api/schemas/image.js';
import { gpus } from '../src/native/core.js';
import { openHttpSource, openInProcessSource, type BoxSource } from './accuracy/box-source.js';
import { readLabels, readPhotoSets, type PhotoSet } from './accuracy/expected.js';
import { compare } from './accuracy/box-agreement.js';

/** Boxes of interest score more than `FLOOR`; both sides are asked down to `LOWEST` for partners. */
const FLOOR = 0.3;
const LOWEST = 0.25;
const MOST_BOXES = 300;
/**
 * coco128 mAP50 by this file's rules over the boxes of an independent pipeline (OpenCV, NumPy, ONNX Runtime), at the
 * overlap that the service merges at, and the figure known for the model, which that pipeline gives at 0.45.
 */
const KNOWN_MAP50 = [
  { iou: 0.7, map50: 0.602 },
  { iou: 0.45, map50: 0.607 },
];
const MAP50_MARGIN = 0.005;
/** Largest loss of bf16 and fp16 in mAP50-95. */
const MAP_CHANGE = 0.002;
const LABEL_CONFIDENCE = 0.001;
const IOU = 0.7;

const GOALS = {
  f32: { overlap: 0.9, share: 0.995 },
  bf16: { overlap: 0.8, share: 0.97 },
  fp16: { overlap: 0.9, share: 0.995 },
};
type Precision = keyof typeof GOALS;
const PRECISIONS: readonly Precision[] = ['f32', 'bf16', 'fp16'];
const FP16_SCORE_GAP = 0.02;

interface Row {
  precision: Precision;
  what: string;
  boxes: string;
  figures: string;
  goal: string;
  met: boolean;
}

async function main(flags: ReadonlySet<string>): Promise<number> {
  const sets = readPhotoSets();
  if (sets === null) {
    console.error('../shared/testdata is absent: there is nothing to compare with.');
    return 2;
  }
  const named = PRECISIONS.filter((precision) => flags.has(`--${precision}`));
  const wanted = named.length > 0 ? named : PRECISIONS;
  const rows: Row[] = [];
  let reference: number | null = null;
  for (const precision of wanted) {
    const missing = whatIsMissing(precision);
    if (missing !== null) {
      console.log(`${precision}: left out: ${missing}`);
      continue;
    }
    await using source = flags.has('--in-process')
      ? await openInProcessSource(precision)
      : await openHttpSource(precision);
    for (const set of sets) {
      if (precision === 'fp16' && set.runTimeQuantised) {
        console.log(`fp16, ${set.name}: left out: a GPU takes no model quantised at run time.`);
        continue;
      }
      rows.push(...(await agreementRows(source, set, precision, flags.has('--misses'))));
    }
    const labelled = await labelRows(source, sets, precision, reference);
    if (precision === 'f32') reference = labelled.map;
    rows.push(...labelled.rows);
  }
  if (rows.length === 0) {
    console.log('Nothing was compared.');
    return 2;
  }
  console.table(rows.map((row) => ({ ...row, met: row.met ? 'yes' : 'NO' })));
  const missed = rows.filter(({ met }) => !met).length;
  console.log(
    missed === 0 ? 'Every goal is met.' : `${missed} of ${rows.length} goals are missed.`,
  );
  return missed === 0 ? 0 : 1;
}

/** Null where this machine computes in the precision. */
function whatIsMissing(precision: Precision): string | null {
  if (precision === 'fp16') return gpus().missing;
  if (precision === 'f32' || bf16Features().length > 0) return null;
  return 'this CPU has neither amx_bf16 nor avx512_bf16.';
}

/** How far a score may be from the reference's; no goal for bf16. */
function scoreGapFor(precision: Precision, set: PhotoSet): number {
  if (precision === 'f32') return set.scoreGap;
  return precision === 'fp16' ? Math.max(FP16_SCORE_GAP, set.scoreGap) : Infinity;
}

/** All classes as one job, then the default vehicles as single requests. */
async function agreementRows(
  source: BoxSource,
  set: PhotoSet,
  precision: Precision,
  showMisses: boolean,
): Promise<Row[]> {
  const question = {
    model: set.model,
    photos: [...set.photos.keys()].map((photo) => join(set.folder, photo)),
    confidence: LOWEST,
    iou: IOU,
    maxDetections: MOST_BOXES,
  };
  const vehicles = (await source.classNames(set.model)).filter((name) =>
    DEFAULT_VEHICLES.includes(name.toLowerCase()),
  );
  const all = await source.allClasses(question);
  const some = await source.someClasses(question, vehicles);
  return [
    agreementRow(`${set.name}, all classes`, set, all, null, precision, showMisses),
    agreementRow(`${set.name}, vehicles`, set, some, vehicles, precision, showMisses),
  ];
}

function agreementRow(
  what: string,
  set: PhotoSet,
  found: Detection[][],
  classes: string[] | null,
  precision: Precision,
  showMisses: boolean,
): Row {
  const goal = GOALS[precision];
  const pairs = [...set.photos].map(([photo, { expected }], index) => ({
    photo,
    expected: expected.filter((box) => classes?.includes(box.class) ?? true),
    found: found[index] ?? [],
  }));
  const result = compare(pairs, goal.overlap, FLOOR);
  if (showMisses) for (const line of result.misses) console.log(`${precision} ${what}: ${line}`);
  const scoreGap = scoreGapFor(precision, set);
  const gapGoal = scoreGap === Infinity ? '' : `, score within ${scoreGap}`;
  return {
    precision,
    what,
    boxes: `${result.expected} expected, ${result.found} found`,
    figures:
      `recall ${result.recall.toFixed(4)}, precision ${result.precision.toFixed(4)}, ` +
      `score gap ${result.confidenceGap.toFixed(4)}`,
    goal: `both >= ${goal.share} at IoU ${goal.overlap}${gapGoal}`,
    met:
      result.recall >= goal.share &&
      result.precision >= goal.share &&
      result.confidenceGap <= scoreGap,
  };
}

/** coco128 against its labels. `reference` is the mAP50-95 of f32, when that was measured. */
async function labelRows(
  source: BoxSource,
  sets: PhotoSet[],
  precision: Precision,
  reference: number | null,
): Promise<{ map: number; rows: Row[] }> {
  const set = sets.find(({ name }) => name === 'coco128');
  if (set === undefined) throw new Error('The test data has no coco128 set.');
  const classes = await source.classNames(set.model);
  const rows: Row[] = [];
  let map = NaN;
  for (const known of KNOWN_MAP50) {
    const found = await source.allClasses({
      model: set.model,
      photos: [...set.photos.keys()].map((photo) => join(set.folder, photo)),
      confidence: LABEL_CONFIDENCE,
      iou: known.iou,
      maxDetections: MOST_BOXES,
    });
    const labels = [...set.photos].map(([photo, size]) => readLabels(photo, size, classes));
    const boxes = `${labels.flat().length} labels`;
    const map50 = meanAveragePrecision(found, labels, [0.5]) ?? NaN;
    rows.push({
      precision,
      what: `coco128 labels, mAP50, NMS ${known.iou}`,
      boxes,
      figures: map50.toFixed(4),
      goal: `${known.map50} +- ${MAP50_MARGIN}`,
      met: Math.abs(map50 - known.map50) <= MAP50_MARGIN,
    });
    if (known.iou === IOU) {
      map = meanAveragePrecision(found, labels) ?? NaN;
      if (reference !== null) rows.push(mapRow(precision, boxes, map, reference));
    }
  }
  return { map, rows };
}

function mapRow(precision: Precision, boxes: string, map: number, reference: number): Row {
  return {
    precision,
    what: `coco128 labels, mAP50-95, NMS ${IOU}`,
    boxes,
    figures: `${map.toFixed(4)}, f32 ${reference.toFixed(4)}`,
    goal: `within ${MAP_CHANGE} of f32`,
    met: Math.abs(map - reference) <= MAP_CHANGE,
  };
}

process.exitCode = await main(new Set(process.argv.slice(2)));
