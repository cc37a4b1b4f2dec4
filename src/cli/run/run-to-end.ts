/** A run from its first file to its last output, with what earlier calls of the same command have left. */
import { createHash } from 'node:crypto';
import { leftOutFiles } from '../../api/left-out.js';
import type { ExportFormat } from '../../export/formats.js';
import { networkText } from '../../report/words.js';
import { failureLines, printable, renderTable, type FailedImage } from '../output-text.js';
import { EXIT_FAILED, EXIT_PARTLY, UsageError, type Terminal } from '../terminal.js';
import { FileListing, inParts } from './named-files.js';
import { lastEnded, removeRunParts, writeRecord, writeRunFiles } from './run-files.js';
import { MOST_REASONS, RunJobs } from './run-jobs.js';
import { writeRunPictures } from './run-pictures.js';
import { RunProgress, type RunFigures } from './run-progress.js';
import type { EndedRun, RunJob, RunRequest, RunResults, RunService } from './run-service.js';
import { sortPictures } from './sort-pictures.js';
import type { Sort } from './sort-ways.js';
import { SubmittedFiles } from './submitted-files.js';

export type RunFlags = RunRequest['flags'] & {
  format?: ExportFormat[];
  maxFailureShare?: number;
  sort?: Sort;
  yes?: boolean;
};

/** A share is one of chance before so many pictures have ended. */
const LEAST_SHARED = 20;

interface Run extends RunRequest {
  flags: RunFlags;
  service: RunService;
  /** Ends the run. */
  stop: AbortController;
}

/** Jobs of an earlier call that was ended early go on; else all pictures are asked for again, and results reused. */
export async function runToEnd(run: Run): Promise<void> {
  const { service, folder, named, stop } = run;
  await removeRunParts(folder);
  const earlier = await service.jobs();
  const last = earlier.at(-1)?.run ?? null;
  const kind = kindOf(service);
  const isOpen = last !== null && last !== (await lastEnded(folder));
  const open =
    isOpen && !named.hasList && last.startsWith(kind)
      ? earlier.filter((job) => job.run === last)
      : [];
  if (last !== null && open.length > 0 && open.every(isWhole)) {
    const known = { continued: open, others: earlier.filter((job) => !open.includes(job)) };
    if (!(await runOnce(run, last, known)) || stop.signal.aborted) return;
  }
  const others = await service.jobs();
  for (const { jobId, completedAt } of others) {
    if (completedAt === null) await service.cancel(jobId);
  }
  await runOnce(run, `${kind}${Date.now().toString(36)}`, { continued: [], others });
}

/** Runs of the same settings: a run goes on only with its own. */
function kindOf({ settings }: RunService): string {
  return `run-${createHash('sha1').update(settings).digest('hex').slice(0, 8)}-`;
}

/** Each image has an outcome, or will have one. */
const isWhole = ({ completedAt, finishedImages, imageCount }: RunJob): boolean =>
  completedAt === null || finishedImages === imageCount;

/** True: files of the jobs have changed or are gone since, so that all are to be asked for again. */
async function runOnce(
  run: Run,
  tag: string,
  known: { continued: readonly RunJob[]; others: readonly RunJob[] },
): Promise<boolean> {
  const { service, named, folder, terminal, stop } = run;
  const progress = new RunProgress(terminal);
  let isListed = false;
  const onProgress = (figures: RunFigures, isStep: boolean) => {
    progress.show(figures, isListed, isStep);
    endAboveShare(run, figures);
  };
  const jobs = new RunJobs(service, tag, known, onProgress, stop.signal);
  const startedAt = performance.now();
  const before = jobs.figures;
  try {
    const listing = new FileListing(named, folder, stop.signal);
    const submitted = await SubmittedFiles.of(service, known.continued);
    const files = submitted.without(listing.files());
    for await (const part of inParts(files, service.imagesPerJob)) {
      await jobs.submit(part);
      if (stop.signal.aborted) break;
    }
    isListed = true;
    await jobs.ended();
    if (stop.signal.aborted) {
      await endJobs(run, jobs.openIds);
      tellStopped(run, jobs.figures);
      return false;
    }
    if (submitted.isStale) return true;
    const seconds = (performance.now() - startedAt) / 1_000;
    const { figures, ids, refused } = jobs;
    await end(run, tag, { figures, before, ids, refused, seconds }, listing);
    return false;
  } finally {
    jobs.close();
  }
}

function endAboveShare({ flags, stop }: Run, { done, failed }: RunFigures): void {
  const { maxFailureShare: most } = flags;
  if (most === undefined || done < LEAST_SHARED || failed <= most * done) return;
  stop.abort(`${failed} of ${done} images failed, which is more than --max-failure-share ${most}.`);
}

/** After too many failures, jobs that would go on are ended. */
async function endJobs({ service, stop }: Run, open: readonly string[]): Promise<void> {
  if (!service.goesOn || typeof stop.signal.reason !== 'string') return;
  for (const jobId of open) await service.cancel(jobId);
}

function tellStopped({ stop, terminal }: Run, { total, done }: RunFigures): void {
  const reason: unknown = stop.signal.reason;
  if (reason instanceof Error) throw reason;
  if (typeof reason === 'string') {
    terminal.err(reason);
    terminal.setExitCode(EXIT_PARTLY);
  }
  terminal.err(`Stopped: ${done} of ${total} images are done. The same command goes on.`);
}

interface Ended {
  figures: RunFigures;
  /** Those of an earlier process, as this one has found them. */
  before: RunFigures;
  ids: readonly string[];
  refused: RunJobs['refused'];
  seconds: number;
}

async function end(
  run: Run,
  tag: string,
  { figures, before, ids, refused, seconds }: Ended,
  { leftOut, unreadable }: FileListing,
): Promise<void> {
  const { service, folder, flags, named, terminal } = run;
  const leftOutText = leftOutFiles(leftOut);
  if (leftOutText !== '') terminal.err(`${leftOutText}.`);
  for (const each of unreadable) {
    terminal.err(printable(`No permission to read ${each}: its images are left out.`));
  }
  tellRefused(refused, terminal);
  const [first, ...more] = await jobsOf(service, ids);
  if (first === undefined) throw new UsageError('There are no images.');
  const jobs: EndedRun['jobs'] = [first, ...more];
  const ran = ranOf(figures) - ranOf(before);
  const results = await service.results({ run: tag, jobs, leftOut, ran, seconds });
  const written = await writeRunFiles(folder, flags.format ?? ['ndjson'], results);
  const pictures = await writePictures(run, results, figures);
  written.push(...pictures.paths);
  if (run.stop.signal.aborted) {
    tellStopped(run, figures);
    return;
  }
  const { total, done, failed } = figures;
  const record = { run: tag, ended_at: new Date().toISOString(), images: total, failed };
  await writeRecord(folder, record);
  await removeOthers(run, tag);
  for (const line of tableOf(results.classes)) terminal.out(line);
  terminal.out(summaryOf(figures, before, seconds));
  if (results.network !== null) terminal.out(networkText(results.network));
  for (const line of await failuresOf(run, jobs)) terminal.out(line);
  terminal.out(`Written: ${written.join(', ')}`);
  if (flags.sort !== undefined) {
    await sortPictures(folder, flags.sort, named, results.source.pages(), terminal);
  }
  if (done < total) terminal.setExitCode(EXIT_FAILED);
  else if (failed > 0 || unreadable.length > 0 || refused.count > 0 || !pictures.areWhole) {
    terminal.setExitCode(EXIT_PARTLY);
  }
}

function tellRefused({ count, first }: RunJobs['refused'], terminal: Terminal): void {
  if (count === 0) return;
  terminal.err(
    `${count} ${count === 1 ? 'file' : 'files'} left out: the service takes no such path.`,
  );
  for (const line of failureLines(first, count)) terminal.err(line);
}

async function jobsOf(service: RunService, ids: readonly string[]): Promise<RunJob[]> {
  const jobs: RunJob[] = [];
  for (const id of ids) jobs.push(await service.get(id));
  return jobs;
}

async function writePictures(
  { folder, terminal, stop }: Run,
  { pictures }: RunResults,
  { total: images, done, failed }: RunFigures,
): Promise<{ paths: string[]; areWhole: boolean }> {
  const written = { paths: [] as string[], areWhole: true };
  for (const source of pictures) {
    const target = { folder, images, terminal, signal: stop.signal };
    const { paths, leftOut } = await writeRunPictures(source, target);
    written.paths.push(...paths);
    const lost = leftOut - failed - (images - done);
    if (lost <= 0) continue;
    written.areWhole = false;
    terminal.err(
      `Without a picture in ${paths[0]} though it ran: ${lost}. ${paths.at(-1)} says why.`,
    );
  }
  return written;
}

/** The results that are still asked for have been taken over. */
async function removeOthers({ service }: Run, tag: string): Promise<void> {
  for (const { jobId, run } of await service.jobs()) {
    if (run !== tag) await service.remove(jobId);
  }
}

function tableOf(classes: ReadonlyMap<string, number>): string[] {
  if (classes.size === 0) return [];
  const rows = [...classes]
    .sort(([one, more], [other, fewer]) => fewer - more || (one < other ? -1 : 1))
    .map(([name, boxes]) => [name, String(boxes)]);
  return [...renderTable([['CLASS', 'BOXES'], ...rows]), ''];
}

const ranOf = ({ done, reused }: RunFigures): number => done - reused;

function summaryOf(
  { total, done, failed, reused }: RunFigures,
  before: RunFigures,
  seconds: number,
): string {
  const notRun = total > done ? `, ${total - done} not run` : '';
  const asBefore = reused > 0 ? ` (${reused} as before)` : '';
  const rate = ((done - before.done) / seconds).toFixed(1);
  return `${done - failed} done${asBefore}, ${failed} failed${notRun}; ${seconds.toFixed(1)} s, ${rate} images/s`;
}

/** The reasons of the first ones, as the other commands print them. */
async function failuresOf({ service }: Run, jobs: readonly RunJob[]): Promise<string[]> {
  const failed: FailedImage[] = [];
  for (const { jobId, failedImages } of jobs) {
    if (failedImages === 0) continue;
    failed.push(...(await service.failed(jobId, MOST_REASONS)));
    if (failed.length >= MOST_REASONS) break;
  }
  const count = jobs.reduce((sum, { failedImages }) => sum + failedImages, 0);
  return failureLines(failed, count);
}
