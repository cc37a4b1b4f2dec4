/** The record that a webhook carries: a message that a receiver takes in one piece. */
import type { ImageEntry, Job } from '../../jobs/job.js';
import type { HideFolders } from '../problem.js';
import type { ImageEntryBody, JobDigestBody, JobResultBody } from './job.schema.js';
import { Tally, viewEntry, viewHead, viewResult, viewTail } from './result-view.js';

/** With all else that a record holds the message stays below 1 MiB, which is where common web servers refuse. */
const MAX_IMAGES_BYTES = 960_000;

/** The result record, or where its images are too long the record without them and with the way to them. */
export async function viewForWebhook(
  job: Job,
  pages: AsyncIterable<readonly ImageEntry[]>,
  hide: HideFolders,
): Promise<JobResultBody | JobDigestBody> {
  const tally = new Tally();
  let kept: ImageEntry[] | null = [];
  let bytes = 0;
  for await (const page of pages) {
    for (const entry of page) {
      const image = viewEntry(job, entry, hide);
      tally.add(image);
      if (kept === null) continue;
      kept.push(entry);
      bytes += bytesOf(image);
      if (bytes > MAX_IMAGES_BYTES && job.imageCount > 1) kept = null;
    }
  }
  if (kept !== null) return viewResult(job, kept, hide);
  return {
    ...viewHead(job),
    result: tally.totals(job),
    ...viewTail(job, hide),
    result_url: `/v1/jobs/${encodeURIComponent(job.jobId)}/result`,
  };
}

function bytesOf(image: ImageEntryBody): number {
  return Buffer.byteLength(JSON.stringify(image)) + 1;
}
