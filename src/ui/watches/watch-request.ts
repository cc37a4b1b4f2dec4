/** What the form of watches sends. */
import { jobText } from '../../client/job-text.js';
import type { WatchCreate } from '../../client/lattice-client.js';
import { jobSettings, metadataText, pathLines, type JobFields } from '../jobs/job-request.js';

interface WatchFields {
  name: string;
  settleS: number;
  existing: WatchCreate['existing'];
}

/** As JSON: the metadata keep their text, and with it the digits of long numbers. */
export function watchRequest(fields: JobFields, { name, settleS, existing }: WatchFields): string {
  const request = {
    ...jobSettings(fields),
    name: name.trim(),
    paths: pathLines(fields.paths),
    settle_ms: Number.isNaN(settleS) ? null : Math.round(settleS * 1_000),
    existing,
  };
  return jobText(request, metadataText(fields));
}
