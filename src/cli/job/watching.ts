/** Submits a job, and follows a job to its end or the events of all jobs. */
import type {
  EventGap,
  JobEvent,
  JobProgress,
  LatticeClient,
  ServiceError,
} from '../../client/lattice-client.js';
import { jobText } from '../../client/job-text.js';
import { givenLabels, type LabelFlags } from '../command-options.js';
import { bar } from '../progress.js';
import { UsageError, type Terminal } from '../terminal.js';
import { untilSignal } from '../until-signal.js';
import { settingsOf, type JobFlags } from './job-flags.js';
import { openClient, watchCommand, type AccessFlags } from './open-client.js';
import { submitPhotos } from './sending.js';
import { exitCodeOfJob, failedImageLines, imagesText, leftOutLines, summaryOf } from './showing.js';

/** A log gets one line per tenth of the job. */
const LOG_STEPS = 10;

export interface WatchFlags extends AccessFlags {
  timeout?: number;
}

/** A wait without `--timeout` ends with the job. */
const NO_LIMIT = Infinity;

export async function watchJob(
  jobId: string,
  flags: WatchFlags,
  terminal: Terminal,
): Promise<void> {
  const client = openClient(flags);
  await client.status(jobId); // a service that cannot be reached is reported at once
  await followJob(client, jobId, flags, terminal, (line) => {
    terminal.out(line);
  });
}

/**
 * Sets the exit code: 0 completed, 3 with failed images, 1 failed, 130 or 143 for a signal, after which the job goes
 * on.
 */
async function followJob(
  client: LatticeClient,
  jobId: string,
  flags: WatchFlags,
  terminal: Terminal,
  tell: (line: string) => void,
): Promise<void> {
  const line = new JobLine(terminal, flags.json === true);
  const record = await untilSignal(terminal, (signal) =>
    client.waitFor(jobId, {
      deadlineMs: (flags.timeout ?? NO_LIMIT) * 1000,
      signal,
      onProgress: (progress) => {
        line.show(progress);
      },
      onConnection: tellConnection(terminal),
    }),
  );
  if (record === null) {
    terminal.err(`The job goes on. ${watchCommand(jobId, flags)} watches it again.`);
    return;
  }
  if (flags.json === true) terminal.out(JSON.stringify(record));
  else {
    tell(summaryOf(record));
    for (const line of await failedImageLines(client, record)) tell(line);
    for (const line of await leftOutLines(client, record)) tell(line);
  }
  terminal.setExitCode(exitCodeOfJob(record));
}

/** Until a signal ends it. */
export async function watchAll(flags: WatchFlags, terminal: Terminal): Promise<void> {
  if (flags.timeout !== undefined) throw new UsageError('--timeout needs a job to wait for.');
  const client = openClient(flags);
  await untilSignal(terminal, async (signal) => {
    const events = client.events({
      events: ['job_submitted', 'job_started', 'job_progress', 'job_completed', 'job_failed'],
      signal,
      onConnection: tellConnection(terminal),
    });
    for await (const event of events) {
      terminal.out(flags.json === true ? JSON.stringify(event) : lineOf(event));
    }
  });
}

/** Reports once that the service is away, and once that it is back. */
function tellConnection(terminal: Terminal): (lost: ServiceError | null) => void {
  let away = false;
  return (lost) => {
    if (lost !== null) terminal.err(`${lost.detail} Trying again.`);
    else if (away) terminal.err('The service answers again.');
    away = lost !== null;
  };
}

function lineOf(event: JobEvent | EventGap): string {
  const time = new Date(event.timestamp * 1000).toISOString();
  if (event.event === 'gap') return `${time}  gap: some events are lost`;
  const error = event.error === undefined ? '' : `  ${event.error.code}`;
  const percent = Math.floor(event.progress * 100);
  const failed = event.failed_images === 0 ? '' : `  ${event.failed_images} failed`;
  return `${time}  ${event.event.padEnd(13)}  ${event.job_id}  ${percent} %${failed}${error}`;
}

/** The progress of a job: one changing line on a terminal, else a line per step. */
class JobLine {
  readonly #terminal: Terminal;
  readonly #json: boolean;
  #shown = '';

  constructor(terminal: Terminal, json: boolean) {
    this.#terminal = terminal;
    this.#json = json;
  }

  show(progress: JobProgress): void {
    const { status, finished_images: done } = progress;
    // The end has a line of its own.
    if (status === 'completed' || status === 'failed') return;
    const step = this.#isLog ? Math.floor(progress.progress * LOG_STEPS) : done;
    if (this.#shown === `${status} ${step}`) return;
    this.#shown = `${status} ${step}`;
    const text = `${imagesText(progress)}, ${status}`;
    if (this.#json) this.#terminal.out(JSON.stringify(progress));
    else if (this.#terminal.progress === undefined) this.#terminal.err(text);
    else this.#terminal.progress(`${bar(progress.progress)} ${text}`);
  }

  get #isLog(): boolean {
    return !this.#json && this.#terminal.progress === undefined;
  }
}

export interface SubmitFlags extends AccessFlags, JobFlags, LabelFlags {
  /** Folders and files of this machine. */
  upload?: string[];
  wait?: boolean;
  timeout?: number;
}

/** Standard output gets the id alone, so that a shell can keep it, or the records as JSON. */
export async function submitJob(
  paths: string[],
  flags: SubmitFlags,
  terminal: Terminal,
): Promise<void> {
  if (flags.timeout !== undefined && flags.wait !== true) {
    throw new UsageError('--timeout bounds the wait of --wait.');
  }
  if ((paths.length === 0) === (flags.upload === undefined)) {
    throw new UsageError(
      'Name images that the service has, or photos of this machine with --upload.',
    );
  }
  const client = openClient(flags);
  const accepted =
    flags.upload === undefined
      ? await client.submit(jobOf(paths, flags))
      : await submitPhotos(client, flags.upload, terminal, (upload) => jobOf(['.'], flags, upload));
  if (accepted === null) return;
  terminal.out(flags.json === true ? JSON.stringify(accepted) : accepted.job_id);
  if (flags.wait === true) {
    await followJob(client, accepted.job_id, flags, terminal, (line) => {
      terminal.err(line);
    });
  } else if (flags.json !== true) {
    const command = watchCommand(accepted.job_id, flags);
    terminal.err(`${accepted.message} ${command} follows it.`);
  }
}

/** As JSON. */
function jobOf(paths: string[], flags: SubmitFlags, upload?: string): string {
  return jobText(
    { ...settingsOf(flags), ...givenLabels(flags), image_paths: paths, upload },
    flags.metadata ?? null,
  );
}
