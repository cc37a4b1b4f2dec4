/** Submits a job; with `--wait`, follows it to its end. */
import { viewParameters, type DetectionParameters } from '../../api/options.js';
import type { JobSubmit } from '../../client/lattice-client.js';
import { withSuffix } from '../../models/model-folder.js';
import { UsageError, type Terminal } from '../terminal.js';
import { openClient, type AccessFlags } from './open-client.js';
import { followJob, watchCommand } from './watching.js';

export interface SubmitFlags extends AccessFlags, Partial<DetectionParameters> {
  type: JobSubmit['job_type'];
  model?: string;
  classes?: string[];
  vehicleTypes?: string[];
  priority?: number;
  callbackUrl?: string;
  metadata?: Record<string, unknown>;
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
  const client = openClient(flags);
  const accepted = await client.submit(jobOf(paths, flags));
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

function jobOf(paths: string[], flags: SubmitFlags): JobSubmit {
  const { type, model, classes, vehicleTypes, ...more } = flags;
  return {
    job_type: type,
    image_paths: paths,
    model_name: model === undefined ? model : withSuffix(model),
    ...viewParameters(flags),
    classes,
    vehicle_types: vehicleTypes,
    priority: more.priority,
    callback_url: more.callbackUrl,
    metadata: more.metadata,
  };
}
