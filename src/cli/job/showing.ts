/** Prints the facts that a service has of its jobs. */
import { text as textOf } from 'node:stream/consumers';
import { FIGURE_ROWS } from '../../api/job-figures.js';
import { leftOutFiles } from '../../api/left-out.js';
import type {
  ImageEntry,
  JobFilter,
  JobProgress,
  JobResult,
  JobStatus,
  LatticeClient,
  Problem,
  SingleImageResult,
} from '../../client/lattice-client.js';
import type { ResultFormat } from '../../export/formats.js';
import type { ExportFlags } from '../export-output.js';
import { writeOutput } from '../output-file.js';
import type { CoverFlags } from '../picture-flags.js';
import {
  DETECTION_HEADER,
  detectionRows,
  failedRow,
  failureLines,
  renderTable,
  type FailedImage,
} from '../output-text.js';
import { EXIT_FAILED, EXIT_PARTLY, type Terminal } from '../terminal.js';
import { givenFilter } from './filter-flags.js';
import { openClient, type AccessFlags } from './open-client.js';
import { askedOf, type AskedFlags } from './question-flags.js';

export async function showStatus(
  jobId: string,
  flags: AccessFlags,
  terminal: Terminal,
): Promise<void> {
  const client = openClient(flags);
  const job = await client.status(jobId);
  if (flags.json === true) terminal.out(JSON.stringify(job));
  else {
    for (const line of renderTable(statusRows(job))) terminal.out(line);
    for (const line of await failedImageLines(client, job)) terminal.out(line);
    for (const line of await leftOutLines(client, job)) terminal.out(line);
  }
  terminal.setExitCode(exitCodeOfJob(job));
}

/** A sentence on the files that lie beside the images of the job and are not in it. */
export async function leftOutLines(client: LatticeClient, job: JobStatus): Promise<string[]> {
  const sentence = leftOutFiles((await client.summary(job.job_id)).left_out);
  return sentence === '' ? [] : [`${sentence}.`];
}

/** Exit code 1 for a job that failed: it has no boxes; 3 where some images failed. */
export async function showResult(
  jobId: string,
  flags: AccessFlags & AskedFlags,
  terminal: Terminal,
): Promise<void> {
  const client = openClient(flags);
  const asked = askedOf(flags);
  if (flags.json === true) {
    const record = await client.status(jobId);
    // Printed as received: after parsing, the metadata would lose digits of its numbers.
    terminal.out(await textOf(client.export(jobId, 'json', asked)));
    terminal.setExitCode(exitCodeOfJob(record));
    return;
  }
  const record = await client.result(jobId, asked);
  for (const line of resultLines(record)) terminal.out(line);
  terminal.setExitCode(exitCodeOfJob(record));
}

function statusRows(job: JobStatus): string[][] {
  return [
    ['job', job.job_id],
    ['title', job.title],
    ['status', job.status],
    ['images', imageCounts(job)],
    ['boxes', boxesText(job)],
    ...FIGURE_ROWS.flatMap(({ wireName, shown }) =>
      shown === undefined || job[wireName] === 0
        ? []
        : [[shown[0], `${job[wireName]} ${shown[1]}`]],
    ),
    ['type', job.job_type],
    ['priority', String(job.priority)],
    ['worker', job.worker_id === '' ? '-' : job.worker_id],
    ['submitted', timeText(job.submitted_at)],
    ['started', timeText(job.started_at)],
    ['completed', timeText(job.completed_at)],
    ...(job.tags.length === 0 ? [] : [['tags', job.tags.join(', ')]]),
    ...(job.notes === null ? [] : [['notes', job.notes]]),
    ...(job.completed_at === null ? [] : [['kept until', keptText(job)]]),
    ...(job.watch === null ? [] : [['watch', job.watch]]),
    ...(job.retry_of === null ? [] : [['retry of', job.retry_of]]),
    ...(job.request_id === null ? [] : [['request', job.request_id]]),
    ...(job.error === null ? [] : [['error', problemText(job.error)]]),
    ...(job.webhooks ?? []).map(({ state, attempts, last_error: error }) => [
      'webhook',
      `${state} after ${attempts} attempt(s)${error === null ? '' : `: ${error}`}`,
    ]),
  ];
}

function resultLines(record: JobResult): string[] {
  const { result, error, status } = record;
  const entries = entriesOf(result);
  const rows = entries.flatMap((entry) =>
    entry.status === 'error'
      ? [failedRow(entry.image_path, entry.error)]
      : detectionRows(entry.image_path, entry.detections),
  );
  const table = rows.length === 0 ? [] : [...renderTable([DETECTION_HEADER, ...rows]), ''];
  const failed = entries.filter((entry) => entry.status === 'error').length;
  const counts = `${entries.length - failed} done, ${failed} failed; ${result?.total_count ?? 0} box(es)`;
  const summary = error === null ? counts : `${status}: ${problemText(error)}; ${counts}`;
  return [...table, summary, ...failureLines(failedImagesOf(record))];
}

type ShownEntry = ({ status: 'ok' } & SingleImageResult) | ImageEntry;

function entriesOf(result: JobResult['result']): readonly ShownEntry[] {
  if (result === null) return [];
  return 'images' in result ? result.images : [{ status: 'ok', ...result }];
}

export interface ListFlags extends AccessFlags {
  sort?: JobFilter['sort'];
  limit: number;
}

const LARGEST_PAGE = 100;
const HEADER = [
  'JOB',
  'TITLE',
  'STATUS',
  'TYPE',
  'PRIORITY',
  'IMAGES',
  'FAILED',
  'BOXES',
  'SUBMITTED',
  'ERROR',
];

export async function listJobs(flags: ListFlags, terminal: Terminal): Promise<void> {
  const { sort, limit } = flags;
  const page = { ...(sort && { sort }), limit: Math.min(limit, LARGEST_PAGE) };
  const jobs: JobStatus[] = [];
  for await (const job of openClient(flags).list({ ...givenFilter(flags), ...page })) {
    if (jobs.push(job) === limit) break;
  }
  if (flags.json === true) {
    terminal.out(JSON.stringify(jobs, null, 2));
    return;
  }
  for (const line of renderTable([HEADER, ...jobs.map(cells)])) terminal.out(line);
}

function cells(job: JobStatus): string[] {
  return [
    job.job_id,
    shortened(job.title),
    job.error?.code === 'cancelled' ? 'cancelled' : job.status,
    job.job_type,
    String(job.priority),
    `${job.finished_images}/${job.image_count}`,
    job.failed_images === 0 ? '' : String(job.failed_images),
    String(job.total_count),
    timeText(job.submitted_at),
    job.error?.code ?? '',
  ];
}

/** The earliest time at which the job is removed. */
function keptText({ expires_at: expiry }: JobStatus): string {
  return expiry === null ? 'it is removed by hand' : timeText(expiry);
}

const LONGEST_TITLE = 40;

function shortened(title: string): string {
  const characters = Array.from(title);
  if (characters.length <= LONGEST_TITLE) return title;
  return `${characters.slice(0, LONGEST_TITLE - 3).join('')}...`;
}

/** The exit code is that of the job; what it has is written. */
export async function exportResult(
  jobId: string,
  format: ResultFormat,
  flags: AccessFlags & ExportFlags & AskedFlags,
  terminal: Terminal,
): Promise<void> {
  const client = openClient(flags);
  const record = await client.status(jobId);
  const asked = askedOf(flags);
  await writeOutput(client.export(jobId, format, asked), flags.output, terminal);
  const leftOut = withoutBoxes(record);
  if (leftOut > 0 && format !== 'json' && format !== 'ndjson') {
    terminal.err(`${leftOut} of ${record.image_count} images failed and are left out.`);
  }
  terminal.setExitCode(exitCodeOfJob(record));
}

export interface ReportFlags extends AccessFlags, AskedFlags {
  output?: string;
}

export async function writeReport(
  jobId: string,
  flags: ReportFlags,
  terminal: Terminal,
): Promise<void> {
  const report = openClient(flags).report(jobId, askedOf(flags));
  await writeOutput(report, flags.output, terminal);
}

export interface JobPictureFlags extends ReportFlags, CoverFlags {
  crops?: boolean;
}

export async function writePictures(
  jobId: string,
  { crops, cover, coverWith, margin, ...flags }: JobPictureFlags,
  terminal: Terminal,
): Promise<void> {
  const client = openClient(flags);
  const asked = askedOf(flags);
  const archive =
    cover !== undefined
      ? client.pictures(jobId, 'covered', { class: cover, how: coverWith, margin }, asked)
      : crops === true
        ? client.pictures(jobId, 'crops', { margin }, asked)
        : client.pictures(jobId, 'drawn', {}, asked);
  await writeOutput(archive, flags.output, terminal);
}

function withoutBoxes(record: JobStatus): number {
  const { image_count: images, finished_images: finished, failed_images: failed } = record;
  return images - finished + failed;
}

/** The whole result of a longer job takes a while to come: it is for `lattice job result`. */
const MOST_IMAGES = 10_000;

/** Empty for a job that has not ended, and for one of a single image, whose error is that of the job. */
export async function failedImageLines(
  client: LatticeClient,
  { job_id: jobId, completed_at: end, failed_images: failed, image_count: images }: JobStatus,
): Promise<string[]> {
  if (end === null || failed === 0 || images === 1) return [];
  if (images > MOST_IMAGES) return [`  \`lattice job result ${jobId}\` says why`];
  return failureLines(failedImagesOf(await client.result(jobId)));
}

/** The failed images without those that did not run before the job ended: their error is the error of the job. */
function failedImagesOf({ result, error: ofJob }: JobResult): FailedImage[] {
  if (result === null || !('images' in result)) return [];
  return result.images.flatMap((entry) =>
    entry.status === 'error' && entry.error.code !== ofJob?.code
      ? [{ path: entry.image_path, error: entry.error }]
      : [],
  );
}

/** One line that says how a job ended, or how it stands. */
export function summaryOf(job: JobStatus): string {
  const error = job.error === null ? '' : `: ${problemText(job.error)}`;
  return `${job.job_id} ${job.status}, ${imagesText(job)}${took(job)}${error}`;
}

function boxesText({ total_count: total, class_counts: counts }: JobStatus): string {
  const classes = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  return classes.length === 0 ? String(total) : `${total} (${classes.join(', ')})`;
}

type ImageCounts = Pick<JobProgress, 'finished_images' | 'failed_images' | 'image_count'> &
  Partial<Pick<JobStatus, 'not_run_images'>>;

/** The counts of `imageCounts` as a sentence. */
export function imagesText(job: ImageCounts): string {
  const isWhole = job.failed_images === 0 && (job.not_run_images ?? 0) === 0;
  return isWhole ? `${imageCounts(job)} images` : imageCounts(job);
}

/** `3/3`, or `1 done, 2 failed` and how many are left. */
function imageCounts({
  finished_images: finished,
  failed_images: failed,
  image_count: images,
  not_run_images: notRun = 0,
}: ImageCounts): string {
  if (failed === 0 && notRun === 0) return `${finished}/${images}`;
  const text = notRun > 0 ? `${notRun} not run` : `${images - finished} left`;
  const left = finished === images ? '' : `, ${text}`;
  return `${finished - failed} done, ${failed} failed${left}`;
}

/** 0 for a job that is completed without a failed image, or has yet to end. */
export function exitCodeOfJob({
  status,
  failed_images: failed,
}: Pick<JobStatus, 'status' | 'failed_images'>): number {
  if (status === 'failed') return EXIT_FAILED;
  return status === 'completed' && failed > 0 ? EXIT_PARTLY : 0;
}

function problemText({ detail, code }: Pick<Problem, 'detail' | 'code'>): string {
  return `${detail} (${code})`;
}

/** Universal time, to the second. */
export function timeText(unixSeconds: number | null): string {
  if (unixSeconds === null) return '-';
  return new Date(unixSeconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
}

function took({ started_at: from, completed_at: to }: JobStatus): string {
  return from === null || to === null ? '' : `, ${(to - from).toFixed(1)} s`;
}
