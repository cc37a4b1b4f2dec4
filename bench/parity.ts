/**
 * `npm run parity`: are our boxes the reference's boxes? Starts the service, sends it every photo of the shared
 * test data, compares with boxes of an independent pipeline and with labels, prints the figures and exits
 * non-zero when a goal is missed. `--in-process` asks the detector directly, `--f32` / `--bf16` one precision
 * only, `--misses` lists each box without a partner.
 */
import { join } from 'node:path';
import { bf16Features } from '../src/inference/compute-choice.js';
import { DEFAULT_VEHICLES } from '../src/inference/class-filter.js';
import type { Detection } from '../src/inference/detector.js';
import { openHttpSource, openInProcessSource, type BoxSource } from './accuracy/box-source.js';
import { readLabels, readPhotoSets, type PhotoSet } from './accuracy/expected.js';
import { compare } from './accuracy/match.js';
import {
  COCO_OVERLAPS,
  meanAveragePrecision,
  type LabelledPhoto,
} from './accuracy/mean-average-precision.js';

/** Boxes of interest score more than `FLOOR`; both sides are asked down to `LOWEST` for partners. */
const FLOOR = 0.3;
const LOWEST = 0.25;
const MOST_BOXES = 300;
/** coco128 mAP50 of the reference model, and how far from it we may be. */
const KNOWN_MAP50 = 0.607;
const MAP50_MARGIN = 0.005;
/** What bf16 may cost in mAP50-95. */
const MAP_CHANGE = 0.002;
const LABEL_CONFIDENCE = 0.001;

const GOALS = {
  f32: { overlap: 0.9, share: 0.995, confidenceGap: 0.01 },
  bf16: { overlap: 0.8, share: 0.97, confidenceGap: Infinity },
};
type Precision = keyof typeof GOALS;

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
  const wanted = (['f32', 'bf16'] as const).filter(
    (precision) => flags.has(`--${precision}`) || !(flags.has('--f32') || flags.has('--bf16')),
  );
  const rows: Row[] = [];
  let reference: number | null = null;
  for (const precision of wanted) {
    if (precision === 'bf16' && bf16Features().length === 0) {
      console.log('bf16: left out, this CPU has neither amx_bf16 nor avx512_bf16.');
      continue;
    }
    await using source = flags.has('--in-process')
      ? await openInProcessSource(precision)
      : await openHttpSource(precision);
    for (const set of sets) {
      rows.push(...(await agreementRows(source, set, precision, flags.has('--misses'))));
    }
    const labelled = await labelRows(source, sets, precision, reference);
    if (precision === 'f32') reference = labelled.map;
    rows.push(...labelled.rows);
  }
  console.table(rows.map((row) => ({ ...row, met: row.met ? 'yes' : 'NO' })));
  const missed = rows.filter(({ met }) => !met).length;
  console.log(
    missed === 0 ? 'Every goal is met.' : `${missed} of ${rows.length} goals are missed.`,
  );
  return missed === 0 ? 0 : 1;
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
  const gapGoal = goal.confidenceGap === Infinity ? '' : `, score within ${goal.confidenceGap}`;
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
      result.confidenceGap <= goal.confidenceGap,
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
  const found = await source.allClasses({
    model: set.model,
    photos: [...set.photos.keys()].map((photo) => join(set.folder, photo)),
    confidence: LABEL_CONFIDENCE,
    maxDetections: MOST_BOXES,
  });
  const photos: LabelledPhoto[] = [...set.photos].map(([photo, size], index) => ({
    labels: readLabels(photo, size, classes),
    found: found[index] ?? [],
  }));
  const map50 = meanAveragePrecision(photos, [0.5]);
  const map = meanAveragePrecision(photos, COCO_OVERLAPS);
  const boxes = `${photos.reduce((sum, { labels }) => sum + labels.length, 0)} labels`;
  const rows: Row[] = [
    {
      precision,
      what: 'coco128 labels, mAP50',
      boxes,
      figures: map50.toFixed(4),
      goal: `${KNOWN_MAP50} +- ${MAP50_MARGIN}`,
      met: Math.abs(map50 - KNOWN_MAP50) <= MAP50_MARGIN,
    },
  ];
  if (reference !== null) {
    rows.push({
      precision,
      what: 'coco128 labels, mAP50-95',
      boxes,
      figures: `${map.toFixed(4)}, f32 ${reference.toFixed(4)}`,
      goal: `within ${MAP_CHANGE} of f32`,
      met: Math.abs(map - reference) <= MAP_CHANGE,
    });
  }
  return { map, rows };
}

process.exitCode = await main(new Set(process.argv.slice(2)));
