/** Submits a job, and with `--wait` follows it to its end. */
import { jobText } from '../../client/job-text.js';
import { givenLabels, type LabelFlags } from '../command-options.js';
import { UsageError, type Terminal } from '../terminal.js';
import { showUntilEnd } from './following.js';
import { settingsOf, type JobFlags } from './job-flags.js';
import { openClient, watchCommand, type AccessFlags } from './open-client.js';
import { submitPhotos } from './sending.js';

export interface SubmitFlags extends AccessFlags, JobFlags, LabelFlags {
  /** Folders and files of this machine. */
  upload?: string[];
  literal?: boolean;
  wait?: boolean;
  timeout?: number;
}

/** Standard output gets only the id, so that a shell can keep it, or the records as JSON. */
export async function submitJob(
  paths: string[],
  flags: SubmitFlags,
  terminal: Terminal,
): Promise<void> {
  if (flags.timeout !== undefined && flags.wait !== true) {
    throw new UsageError('--timeout bounds the wait of --wait.');
  }
  if (flags.literal === true && flags.upload !== undefined) {
    throw new UsageError('--literal is for names of images that the service has.');
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
    await showUntilEnd(client, accepted.job_id, flags, terminal, (line) => {
      terminal.err(line);
    });
  } else if (flags.json !== true) {
    const command = watchCommand(accepted.job_id, flags);
    terminal.err(`${accepted.message} ${command} follows it.`);
  }
}

/** The submission as JSON text. */
function jobOf(paths: string[], flags: SubmitFlags, upload?: string): string {
  return jobText(
    {
      ...{ ...settingsOf(flags), ...givenLabels(flags), image_paths: paths, upload },
      ...(flags.literal === true && { literal_paths: true }),
    },
    flags.metadata ?? null,
  );
}
