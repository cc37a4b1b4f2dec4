/** Gathers what the report of an ended job shows. Images are read page by page; sums and a few pictures are kept. */
import { leftOutFiles } from '../api/left-out.js';
import { shownOption } from '../api/option-kinds.js';
import { DEFAULT_PARAMETERS, PARAMETER_ROWS } from '../api/options.js';
import type { Question } from '../api/question.js';
import type { Detection } from '../api/schemas/image.js';
import type { ModelDescription } from '../api/schemas/model.js';
import type { HideFolders } from '../answers/shown-problem.js';
import { groupsOf } from '../answers/sum-groups.js';
import type { CountSums } from '../jobs/count-sums.js';
import { CountSum, type SumRow } from '../store/count-sum.js';
import { notRunImages, scoreFloorOf, type ImageEntry, type Job } from '../store/job.js';
import { titleOf } from '../store/job-title.js';
import { FailedImages, type FailureGroup } from './failed-images.js';
import type { NetworkRates } from './words.js';
import { AlmostPictures, SurePictures, type ChosenPicture } from './shown-pictures.js';

/** The longest side of a picture, in pixels. */
const PICTURE_SIDE = 480;
/** Base64 makes four characters of three bytes: with all texts the file stays below 5 MB. */
const MOST_PICTURE_BYTES = 3_000_000;
const MOST_ROWS = { folder: 30, hour: 48, class: 60, region: 60 };
/** Longer names and texts are cut: a file of many rows stays bounded. */
const LONGEST_TEXT = 300;

export interface ReportSource {
  /** The page names it: a run has the images of several jobs. */
  of: 'job' | 'run';
  /** Its options are those of the question. */
  job: Job;
  imagePages: AsyncIterable<readonly ImageEntry[]>;
  /** Without boxes over dismissed places. */
  counts: Pick<CountSums, 'total' | 'sums'>;
  /** Images with all boxes that the job keeps; null: it keeps none below its thresholds. */
  keptPages: AsyncIterable<readonly ImageEntry[]> | null;
  /** Models of the service as they are now. */
  models: readonly ModelDescription[];
  hide: HideFolders;
  /** Left out and null: not measured. */
  network?: NetworkRates | null;
  /** A JPEG no side of which is longer than `most`, or in words why there is none. */
  draw: (
    imagePath: string,
    boxes: readonly Detection[],
    most: number,
  ) => Promise<{ jpeg: Uint8Array } | { leftOut: string }>;
}

export interface ReportSum {
  /** Null: the time of the images is not known. */
  name: string | null;
  sum: CountSum;
}

/** Rows of a table, and how many more there are with their sum. */
export interface ReportRows<Row, Rest> {
  rows: Row[];
  rest: { count: number; sum: Rest } | null;
}

export interface ReportPicture extends Pick<ChosenPicture, 'path' | 'chosen' | 'threshold'> {
  /** Boxes that are drawn. */
  boxes: number;
  /** A JPEG, or in words why there is none. */
  picture: { jpeg: Uint8Array } | { leftOut: string };
}

export interface Report {
  of: ReportSource['of'];
  jobId: string;
  title: string;
  status: Job['status'];
  /** Why the job failed; null where it did not. */
  error: string | null;
  /** Unix seconds. */
  submittedAt: number;
  startedAt: number | null;
  completedAt: number | null;
  settings: [name: string, value: string][];
  models: {
    name: string;
    digest: string;
    precision: string;
    images: number;
    licence: string | null;
  }[];
  images: { all: number; ok: number; failed: number; notRun: number };
  imagesPerSecond: number | null;
  network: NetworkRates | null;
  /** Counted boxes. */
  boxes: number;
  /** Boxes over dismissed places, which are not counted. */
  dismissed: number;
  classes: ReportRows<{ name: string; boxes: number }, number>;
  regions: ReportRows<{ region: string; name: string; boxes: number }, number>;
  folders: ReportRows<ReportSum, CountSum>;
  hours: ReportRows<ReportSum, CountSum>;
  /** Images by the source of their times. */
  timeSources: SumRow['sources'];
  failures: FailureGroup[];
  /** A sentence on files that are not in the job; '' where there are none. */
  leftOut: string;
  surest: ReportPicture[];
  leastSure: ReportPicture[];
  almost: ReportPicture[];
  /** The lowest score of boxes that the job keeps. */
  scoreFloor: number;
}

/** The question that asks for all boxes that a job keeps, with the other options as they are. */
export function allKept({ spec }: Job, question: Question): Question {
  const { maxDetections } = DEFAULT_PARAMETERS;
  return { ...question, confidence: scoreFloorOf(spec), classThresholds: {}, maxDetections };
}

export async function readReport(source: ReportSource): Promise<Report> {
  const { of, job, imagePages, counts, keptPages, hide, network = null } = source;
  const shown = (text: string) => shortened(hide(text));
  const { spec } = job;
  const sure = new SurePictures(spec.options);
  const failed = new FailedImages(shown);
  let boxes = 0;
  for await (const page of imagePages) {
    for (const entry of page) {
      sure.add(entry);
      failed.add(entry);
      if (entry.outcome?.status === 'ok') boxes += entry.outcome.detections.length;
    }
  }
  const almost = new AlmostPictures(spec.options);
  if (keptPages !== null) {
    for await (const page of keptPages) for (const entry of page) almost.add(entry);
  }
  const drawn = drawer(source, shown);
  const { surest, leastSure } = sure.chosen;
  return {
    of,
    ...headOf(job, shown),
    ...imagesOf(job),
    network,
    models: modelsOf(source),
    boxes: counts.total.detections,
    dismissed: Math.max(0, boxes - counts.total.detections),
    classes: classRows(counts.total),
    regions: regionRows(counts.total),
    timeSources: counts.total.toRow().sources,
    folders: sumRows(byImages(groupsOf(counts.sums, 'folder', shown)), MOST_ROWS.folder),
    hours: sumRows(groupsOf(counts.sums, 'hour', shown), MOST_ROWS.hour),
    failures: failed.groups,
    leftOut: leftOutFiles(spec.leftOut ?? {}),
    almost: await drawn(almost.chosen),
    leastSure: await drawn(leastSure),
    surest: await drawn(surest),
    scoreFloor: scoreFloorOf(spec),
  };
}

function shortened(text: string): string {
  const characters = Array.from(text);
  return characters.length <= LONGEST_TEXT
    ? text
    : `${characters.slice(0, LONGEST_TEXT - 3).join('')}...`;
}

function headOf(job: Job, shown: (text: string) => string) {
  const { jobId, status, error, submittedAt, startedAt, completedAt, spec } = job;
  const { options, jobType, labels } = spec;
  const settings = PARAMETER_ROWS.filter(
    (row) => row.name === 'confidence' || !isDefault(row.default, options[row.name]),
  ).map((row): [string, string] => [row.label, shown(shownOption(row.kind, options[row.name]))]);
  return {
    jobId,
    title: shown(titleOf(job)),
    status,
    error: error === null ? null : shown(error.detail),
    ...{ submittedAt, startedAt, completedAt },
    settings: [
      ['Job type', jobType],
      ['Model', shown(options.modelName)],
      ['Classes', shown(options.classes?.join(', ') ?? 'all classes of the model')],
      ...settings,
      ...(labels.tags.length === 0 ? [] : [['Tags', shown(labels.tags.join(', '))]]),
      ...(labels.notes === null ? [] : [['Notes', shown(labels.notes)]]),
    ] as [string, string][],
  };
}

const isDefault = (ofRow: unknown, value: unknown): boolean =>
  JSON.stringify(ofRow) === JSON.stringify(value);

function imagesOf(job: Job) {
  const { imageCount, finishedImages, failedImages, startedAt, completedAt } = job;
  const seconds = startedAt === null || completedAt === null ? 0 : completedAt - startedAt;
  return {
    images: {
      all: imageCount,
      ok: finishedImages - failedImages,
      failed: failedImages,
      notRun: notRunImages(job),
    },
    imagesPerSecond: seconds > 0 && finishedImages > 0 ? finishedImages / seconds : null,
  };
}

/** The licence is told where the file of that name is still the one that ran, as far as it is known. */
function modelsOf({ job, models }: ReportSource): Report['models'] {
  return job.models.map(({ name, digest, precision, images }) => {
    const present = models.find((each) => each.name === name);
    const isSame = present !== undefined && (present.digest ?? digest) === digest;
    return { name, digest, precision, images, licence: isSame ? present.licence : null };
  });
}

function classRows({ classes }: CountSum): Report['classes'] {
  const rows = [...classes].map(([name, boxes]) => ({ name: shortened(name), boxes }));
  return firstRows(mostBoxes(rows), MOST_ROWS.class, sumOfBoxes);
}

function regionRows({ regions }: CountSum): Report['regions'] {
  const rows = [...regions].flatMap(([region, classes]) =>
    [...classes].map(([name, boxes]) => ({
      region: shortened(region),
      name: shortened(name),
      boxes,
    })),
  );
  return firstRows(mostBoxes(rows), MOST_ROWS.region, sumOfBoxes);
}

const mostBoxes = <Row extends { boxes: number }>(rows: Row[]): Row[] =>
  rows.sort((a, b) => b.boxes - a.boxes);

const sumOfBoxes = (rows: readonly { boxes: number }[]): number =>
  rows.reduce((sum, { boxes }) => sum + boxes, 0);

const byImages = (groups: [string | null, CountSum][]) =>
  groups.sort(([, a], [, b]) => b.images - a.images);

function sumRows(
  groups: readonly [string | null, CountSum][],
  most: number,
): ReportRows<ReportSum, CountSum> {
  const rows = groups.map(([name, sum]) => ({ name, sum }));
  return firstRows(rows, most, (rest) => {
    const total = new CountSum();
    for (const { sum } of rest) total.merge(sum.toRow());
    return total;
  });
}

function firstRows<Row, Rest>(
  rows: readonly Row[],
  most: number,
  sumOf: (rest: readonly Row[]) => Rest,
): ReportRows<Row, Rest> {
  const rest = rows.slice(most);
  return {
    rows: rows.slice(0, most),
    rest: rest.length === 0 ? null : { count: rest.length, sum: sumOf(rest) },
  };
}

/** Draws pictures one at a time, until their bytes are as many as a report takes. */
function drawer(
  { draw }: ReportSource,
  shown: (text: string) => string,
): (pictures: readonly ChosenPicture[]) => Promise<ReportPicture[]> {
  let left = MOST_PICTURE_BYTES;
  const drawn = async ({ path, boxes }: ChosenPicture): Promise<ReportPicture['picture']> => {
    const picture = await draw(path, boxes, PICTURE_SIDE);
    if ('leftOut' in picture) return { leftOut: shown(picture.leftOut) };
    if (picture.jpeg.length > left) {
      return { leftOut: 'The report has no room for more pictures.' };
    }
    left -= picture.jpeg.length;
    return picture;
  };
  return async (pictures) => {
    const shownPictures: ReportPicture[] = [];
    for (const each of pictures) {
      const { path, chosen, threshold, boxes } = each;
      const picture = await drawn(each);
      shownPictures.push({ path: shown(path), chosen, threshold, boxes: boxes.length, picture });
    }
    return shownPictures;
  };
}
