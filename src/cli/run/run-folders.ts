/** Runs all pictures of folders through a service of this process that has no port, as jobs of one store. */
import { createHash } from 'node:crypto';
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { createHideFolders } from '../../answers/shown-problem.js';
import { toLatticeError } from '../../api/errors.js';
import { NO_LABELS } from '../../api/job-labels.js';
import { leftOutFiles } from '../../api/left-out.js';
import { makeFolder } from '../../base/make-folder.js';
import { Releases } from '../../base/releases.js';
import type { ExportFormat } from '../../export/formats.js';
import { pictureSource, type ChosenPictures } from '../../http/routes/jobs/picture-maker.js';
import { createReadSettings, jobSubmitSchema } from '../../http/routes/jobs/read-submission.js';
import { ModelCatalogue } from '../../http/model-catalogue.js';
import { validate } from '../../http/request/validation.js';
import { networkText } from '../../report/words.js';
import { openParts } from '../../service/open-parts.js';
import { endAtOnce } from '../../service/shutdown.js';
import type { Config } from '../../settings/config.js';
import type { Job, SharedSettings } from '../../store/job.js';
import { settingsOf, type JobFlags } from '../job/job-flags.js';
import { chosenPictures } from '../chosen-pictures.js';
import { failureLines, printable, renderTable, type FailedImage } from '../output-text.js';
import type { PictureFlags } from '../picture-flags.js';
import { EXIT_FAILED, EXIT_PARTLY, Refusal, UsageError, type Terminal } from '../terminal.js';
import { terminalLogger } from '../terminal-logger.js';
import { untilSignal } from '../until-signal.js';
import { checkedRunFolder, FileListing, inParts, rootsOfNamed, type Named } from './named-files.js';
import {
  countsOfRun,
  lastEnded,
  removeParts,
  sourceOf,
  writeRecord,
  writeRunFiles,
} from './run-files.js';
import { networkAlone } from './network-alone.js';
import type { EndedRun } from './run-report.js';
import { RunJobs, storedJobs } from './run-jobs.js';
import { writeRunPictures } from './run-pictures.js';
import { RunProgress, type RunFigures } from './run-progress.js';
import { askToMove, continueMove, sortPictures } from './sort-pictures.js';
import type { Sort } from './sort-ways.js';
import { SubmittedFiles } from './submitted-files.js';

export interface RunFlags extends JobFlags, PictureFlags {
  reuse?: string;
  callbackUrl?: string;
  format?: ExportFormat[];
  maxFailureShare?: number;
  sort?: Sort;
  yes?: boolean;
}

/** A share is one of chance before so many pictures have ended. */
const LEAST_SHARED = 20;

type Parts = Awaited<ReturnType<typeof openParts>>;

interface Run {
  parts: Parts;
  config: Config;
  named: Named;
  folder: string;
  settings: SharedSettings;
  pictures: readonly ChosenPictures[];
  flags: RunFlags;
  terminal: Terminal;
  /** Ends the run. */
  stop: AbortController;
}

/** Sets the exit code. Rejects with `UsageError` for a folder that cannot be written. */
export async function runFolders(
  named: Named,
  folder: string,
  flags: RunFlags,
  given: Config,
  terminal: Terminal,
  verbose: boolean,
): Promise<void> {
  if (flags.callbackUrl !== undefined) {
    throw new UsageError(
      '--callback-url is for the jobs of a service: this command ends with its run.',
    );
  }
  await askToMove(flags, terminal);
  await checkedRunFolder(folder, async (out) => {
    makeFolder(out);
    await access(out, constants.W_OK | constants.X_OK);
    makeFolder(join(out, 'data'));
  });
  if (await continueMove(folder, flags.sort, terminal)) return;
  const config = configOfRun(given, named, folder);
  const logger = terminalLogger(terminal, verbose);
  const releases = new Releases(logger, config.drainSeconds * 1_000);
  await untilSignal(terminal, async (signal) => {
    const stop = new AbortController();
    signal.addEventListener('abort', () => {
      terminal.err('Stopping after the images that have begun. Ctrl-C again stops at once.');
      stop.abort(null);
    });
    const lost = (what: string) => () => {
      stop.abort(new Refusal(`The run has lost ${what}. The same command goes on.`));
    };
    try {
      const options = {
        ...(flags.model !== undefined && { mainModel: flags.model }),
        ...{ onGpuLost: lost('its GPU'), onStoreLost: lost('its store') },
      };
      const parts = await openParts(config, logger, releases, stop.signal, options);
      const settings = await settingsOfRun(parts, config, flags);
      const catalogue = new ModelCatalogue(parts.models.detector);
      const pictures = await chosenPictures(flags, settings.options, catalogue);
      await runAll({ parts, config, named, folder, settings, pictures, flags, terminal, stop });
    } finally {
      if (!(await releases.releaseAll())) endAtOnce(logger);
    }
  });
}

/** The service of a run answers its own command alone. */
function configOfRun(config: Config, named: Named, folder: string): Config {
  return {
    ...config,
    env: 'development',
    apiKeysFile: '',
    cluster: 'local',
    imageRoots: rootsOfNamed(named),
    dataDir: join(folder, 'data'),
    storeMaxMb: 0,
    uploadsMaxMb: 0,
    canaryMinutes: 0,
  };
}

async function settingsOfRun(
  { models, views }: Parts,
  config: Config,
  flags: RunFlags,
): Promise<SharedSettings> {
  const schema = jobSubmitSchema.omit({ image_paths: true, upload: true });
  const { metadata } = flags;
  const body = validate(schema, {
    ...settingsOf({ ...flags, ...(flags.reuse === undefined && { reuse: 'unchanged' }) }),
    ...(metadata !== undefined && { metadata: JSON.parse(metadata) as unknown }),
  });
  const readSettings = createReadSettings({ config, views }, new ModelCatalogue(models.detector));
  return readSettings(body, () => metadata, null);
}

/** Jobs of an earlier call that was ended early go on; else all pictures are asked for again, and results reused. */
async function runAll(run: Run): Promise<void> {
  const { parts, folder, named, settings, stop } = run;
  const service = parts.jobs.service;
  await removeParts(folder);
  const earlier = await storedJobs(service);
  const last = earlier.at(-1)?.spec.labels.tags[0] ?? null;
  const kind = kindOf(settings);
  const isOpen = last !== null && last !== (await lastEnded(folder));
  const open = isOpen && !named.hasList && last.startsWith(kind) ? ofTag(earlier, last) : [];
  if (last !== null && open.length > 0 && open.every(isWhole)) {
    const known = { continued: open, others: earlier.filter((job) => !open.includes(job)) };
    if (!(await runOnce(run, last, known)) || stop.signal.aborted) return;
  }
  const others = await storedJobs(service);
  for (const { jobId, completedAt } of others) {
    if (completedAt === null) await service.cancel(jobId, null).catch(refuseOtherThanEnded);
  }
  await runOnce(run, `${kind}${Date.now().toString(36)}`, { continued: [], others });
}

/** Runs of the same settings: a run goes on only with its own. */
function kindOf(settings: SharedSettings): string {
  return `run-${createHash('sha1').update(JSON.stringify(settings)).digest('hex').slice(0, 8)}-`;
}

const ofTag = (jobs: readonly Job[], tag: string): Job[] =>
  jobs.filter(({ spec }) => spec.labels.tags.includes(tag));

/** Each image has an outcome, or will have one. */
const isWhole = ({ completedAt, finishedImages, imageCount }: Job): boolean =>
  completedAt === null || finishedImages === imageCount;

function refuseOtherThanEnded(error: unknown): void {
  if (toLatticeError(error).code !== 'job_already_finished') throw error;
}

/** True: files of the jobs have changed or are gone since, so that all are to be asked for again. */
async function runOnce(
  run: Run,
  tag: string,
  known: { continued: readonly Job[]; others: readonly Job[] },
): Promise<boolean> {
  const { parts, config, named, folder, terminal, stop } = run;
  const service = parts.jobs.service;
  const labels = { ...NO_LABELS, tags: [tag], keep: true };
  const progress = new RunProgress(terminal);
  let isListed = false;
  let counted = 0;
  const onProgress = (figures: RunFigures, isStep: boolean) => {
    const total = Math.max(figures.total, counted);
    progress.show({ ...figures, total }, isListed || counted > 0, isStep);
    endAboveShare(run, figures);
  };
  const settings = { ...run.settings, labels };
  const jobs = new RunJobs(service, settings, known, onProgress, stop.signal);
  const startedAt = performance.now();
  const before = jobs.figures;
  try {
    // The listing of the jobs tells what cannot be read.
    void countAhead(run).then(
      (files) => (counted = files),
      () => undefined,
    );
    const listing = new FileListing(named, folder, stop.signal);
    const submitted = await SubmittedFiles.of(service, known.continued);
    const files = submitted.without(listing.files());
    for await (const part of inParts(files, config.maxImagesPerJob)) {
      await jobs.submit(part);
      if (stop.signal.aborted) break;
    }
    isListed = true;
    await jobs.ended();
    if (stop.signal.aborted) {
      tellStopped(run, jobs.figures);
      return false;
    }
    if (submitted.isStale) return true;
    const seconds = (performance.now() - startedAt) / 1_000;
    await end(run, tag, { figures: jobs.figures, before, ids: jobs.ids, seconds }, listing);
    return false;
  } finally {
    jobs.close();
  }
}

/** The list for the jobs waits for their submission, and without the number of files nobody knows what is left. */
async function countAhead({ named, folder, stop }: Run): Promise<number> {
  // Standard input can be read once.
  if (named.hasList) return 0;
  let files = 0;
  const listing = new FileListing(named, folder, stop.signal).files();
  while ((await listing.next()).done !== true) files += 1;
  return stop.signal.aborted ? 0 : files;
}

function endAboveShare({ flags, stop }: Run, { done, failed }: RunFigures): void {
  const { maxFailureShare: most } = flags;
  if (most === undefined || done < LEAST_SHARED || failed <= most * done) return;
  stop.abort(`${failed} of ${done} images failed, which is more than --max-failure-share ${most}.`);
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
  seconds: number;
}

async function end(
  run: Run,
  tag: string,
  { figures, before, ids, seconds }: Ended,
  { leftOut, unreadable }: FileListing,
): Promise<void> {
  const { parts, config, named, folder, flags, terminal } = run;
  const service = parts.jobs.service;
  const leftOutText = leftOutFiles(leftOut);
  if (leftOutText !== '') terminal.err(`${leftOutText}.`);
  for (const each of unreadable) {
    terminal.err(printable(`No permission to read ${each}: its images are left out.`));
  }
  const [first, ...more] = await Promise.all(ids.map((id) => service.get(id, null)));
  if (first === undefined) throw new UsageError('There are no images.');
  const jobs: EndedRun['jobs'] = [first, ...more];
  const counts = await countsOfRun(service, tag);
  const ran = ranOf(figures) - ranOf(before);
  const alone = await networkAlone(
    { detector: parts.models.detector, images: service, options: first.spec.options },
    jobs,
    { ran, seconds },
  );
  const network = alone === null ? null : { alone, run: ran / seconds };
  const ended = { config, parts, named, jobs, leftOut, counts, network };
  const written = await writeRunFiles(folder, flags.format ?? ['ndjson'], ended);
  written.push(...(await writePictures(run, ended, figures.total)));
  if (run.stop.signal.aborted) {
    tellStopped(run, figures);
    return;
  }
  const { total, done, failed } = figures;
  const record = { run: tag, ended_at: new Date().toISOString(), images: total, failed };
  await writeRecord(folder, record);
  await removeOthers(run, tag);
  for (const line of tableOf(counts.total.classes)) terminal.out(line);
  terminal.out(summaryOf(figures, before, seconds));
  if (network !== null) terminal.out(networkText(network));
  for (const line of await failuresOf(run, jobs)) terminal.out(line);
  terminal.out(`Written: ${written.join(', ')}`);
  if (flags.sort !== undefined) {
    const source = await sourceOf(ended);
    await sortPictures(folder, flags.sort, run.named, source.pages(), terminal);
  }
  if (done < total) terminal.setExitCode(EXIT_FAILED);
  else if (failed > 0 || unreadable.length > 0) terminal.setExitCode(EXIT_PARTLY);
}

async function writePictures(run: Run, ended: EndedRun, images: number): Promise<string[]> {
  const { parts, config, folder, pictures, terminal, stop } = run;
  const written: string[] = [];
  const [job] = ended.jobs;
  const hide = createHideFolders(config);
  for (const chosen of pictures) {
    const making = { ...parts, hide, draining: () => false };
    const source = pictureSource(job, await sourceOf(ended), chosen, making);
    const target = { folder, images, terminal, signal: stop.signal };
    written.push(...(await writeRunPictures(source, target)));
  }
  return written;
}

/** The results that are still asked for have been taken over. */
async function removeOthers({ parts }: Run, tag: string): Promise<void> {
  const service = parts.jobs.service;
  for (const { jobId, spec } of await storedJobs(service)) {
    if (!spec.labels.tags.includes(tag)) await service.remove(jobId, null);
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

const MOST_REASONS = 10;

/** The reasons of the first ones, as the other commands print them. */
async function failuresOf({ parts }: Run, jobs: readonly Job[]): Promise<string[]> {
  const failed: FailedImage[] = [];
  for (const job of jobs.filter(({ failedImages }) => failedImages > 0)) {
    const page = { offset: 0, limit: MOST_REASONS };
    const { entries } = await parts.jobs.service.filteredImages(job, { outcome: 'failed' }, page);
    for (const { path, outcome } of entries) {
      if (outcome?.status === 'error') failed.push({ path, error: outcome.error });
    }
    if (failed.length >= MOST_REASONS) break;
  }
  const count = jobs.reduce((sum, { failedImages }) => sum + failedImages, 0);
  return failureLines(failed, count);
}
