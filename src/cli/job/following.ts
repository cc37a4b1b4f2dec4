/** Follows a job to its end, or the events of all jobs. */
import type {
  EventGap,
  JobEvent,
  JobProgress,
  LatticeClient,
  ServiceError,
} from '../../client/lattice-client.js';
import { bar } from '../progress.js';
import { UsageError, type Terminal } from '../terminal.js';
import { untilSignal } from '../until-signal.js';
import { openClient, watchCommand, type AccessFlags } from './open-client.js';
import { exitCodeOfJob, failedImageLines, imagesText, leftOutLines, summaryOf } from './showing.js';

/** A log gets one line per tenth of the job. */
const LOG_STEPS = 10;

export interface FollowFlags extends AccessFlags {
  timeout?: number;
}

/** Without `--timeout` the wait ends with the job. */
const NO_LIMIT = Infinity;

export async function followJob(
  jobId: string,
  flags: FollowFlags,
  terminal: Terminal,
): Promise<void> {
  const client = openClient(flags);
  await client.status(jobId); // a service that cannot be reached is reported at once
  await showUntilEnd(client, jobId, flags, terminal, (line) => {
    terminal.out(line);
  });
}

/**
 * Shows the progress of a job until it ends or a signal arrives, which leaves the job running. Sets the exit code: 0
 * completed, 3 completed with failed images, 1 failed, 130 or 143 for a signal. Rejects after `flags.timeout`.
 */
export async function showUntilEnd(
  client: LatticeClient,
  jobId: string,
  flags: FollowFlags,
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

/** Prints the events of all jobs until a signal arrives. */
export async function followAll(flags: FollowFlags, terminal: Terminal): Promise<void> {
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

/** Reports once that the connection to the service is lost, and once that the service answers again. */
export function tellConnection(terminal: Terminal): (lost: ServiceError | null) => void {
  let isLost = false;
  return (lost) => {
    if (lost !== null && !isLost) terminal.err(`${lost.detail} Trying again.`);
    else if (lost === null && isLost) terminal.err('The service answers again.');
    isLost = lost !== null;
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
    // The caller prints the line about the end.
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
