/** Follows a job to its end, or the events of all jobs. */
import type {
  EventGap,
  JobEvent,
  LatticeClient,
  ServiceError,
} from '../../client/lattice-client.js';
import { exitCodeOf, FirstSignal } from '../first-signal.js';
import { EXIT_FAILED, UsageError, type Terminal } from '../terminal.js';
import { openClient, type AccessFlags } from './open-client.js';
import { JobLine } from './job-line.js';
import { summaryOf } from './job-text.js';

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
  await client.status(jobId); // a service that is not there is told at once
  await followJob(client, jobId, flags, terminal, (summary) => {
    terminal.out(summary);
  });
}

/** Sets the exit code: 0 completed, 1 failed, 130 or 143 for a signal, after which the job goes on. */
export async function followJob(
  client: LatticeClient,
  jobId: string,
  flags: WatchFlags,
  terminal: Terminal,
  tellEnd: (summary: string) => void,
): Promise<void> {
  const line = new JobLine(terminal, flags.json === true);
  const stop = new AbortController();
  const interrupt = new FirstSignal(() => {
    stop.abort();
  });
  try {
    const record = await client.waitFor(jobId, {
      deadlineMs: (flags.timeout ?? NO_LIMIT) * 1000,
      signal: stop.signal,
      onProgress: (progress) => {
        line.show(progress);
      },
      onConnection: tellConnection(terminal),
    });
    if (flags.json === true) terminal.out(JSON.stringify(record));
    else tellEnd(summaryOf(record));
    if (record.status === 'failed') terminal.setExitCode(EXIT_FAILED);
  } catch (error) {
    if (interrupt.received === null) throw error;
    terminal.err(`The job goes on. ${watchCommand(jobId, flags)} watches it again.`);
    terminal.setExitCode(exitCodeOf(interrupt.received));
  } finally {
    interrupt.unlisten();
  }
}

/** Until a signal ends it. */
export async function watchAll(flags: WatchFlags, terminal: Terminal): Promise<void> {
  if (flags.timeout !== undefined) throw new UsageError('--timeout needs a job to wait for.');
  const client = openClient(flags);
  const stop = new AbortController();
  const interrupt = new FirstSignal(() => {
    stop.abort();
  });
  const events = client.events({
    events: ['job_submitted', 'job_started', 'job_progress', 'job_completed', 'job_failed'],
    signal: stop.signal,
    onConnection: tellConnection(terminal),
  });
  try {
    for await (const event of events) {
      terminal.out(flags.json === true ? JSON.stringify(event) : lineOf(event));
    }
  } catch (error) {
    if (interrupt.received === null) throw error;
    terminal.setExitCode(exitCodeOf(interrupt.received));
  } finally {
    interrupt.unlisten();
  }
}

/** As it would be typed, for a hint. */
export function watchCommand(jobId: string, { url, apiKeyFile }: AccessFlags): string {
  const access = [
    ...(url === undefined ? [] : ['--url', url]),
    ...(apiKeyFile === undefined ? [] : ['--api-key-file', apiKeyFile]),
  ];
  return ['lattice job watch', jobId, ...access].join(' ');
}

/** Says once that the service is away, and once that it is back. */
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
  return `${time}  ${event.event.padEnd(13)}  ${event.job_id}  ${percent} %${error}`;
}
