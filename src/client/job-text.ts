import type { JobSubmit, WatchCreate } from './records.js';

/** JSON for `submit` or `addWatch`, with JSON text as the metadata: parsed, its numbers would lose digits. */
export function jobText(
  job: Omit<JobSubmit, 'metadata'> | Omit<WatchCreate, 'metadata'>,
  metadata: string | null,
): string {
  return `${JSON.stringify(job).slice(0, -1)},"metadata":${metadata ?? 'null'}}`;
}
