/** The record that a webhook carries: one message of bounded size. */
import type { ImageEntry, Job } from '../../jobs/job.js';
import type { HideFolders } from '../problem.js';
import type { ImageEntryBody, JobDigestBody, JobResultBody } from './job-result.schema.js';
import { Tally, viewEntry, viewHead, viewSingleResult, viewTail } from './result-view.js';

/** With all other fields of a record the message stays below 1 MiB, the limit of common web servers. */
const MAX_IMAGES_BYTES = 960_000;

/** The result record of an ended job; where its images are too long, the record without them and with `result_url`. */
export async function webhookRecord(
  job: Job,
  pages: AsyncIterable<readonly ImageEntry[]>,
  hide: HideFolders,
): Promise<JobResultBody | JobDigestBody> {
  const tally = new Tally();
  let images: ImageEntryBody[] | null = [];
  let bytes = 0;
  for await (const page of pages) {
    for (const entry of page) {
      if (job.imageCount === 1) return viewSingleResult(job, entry, hide);
      const image = viewEntry(job, entry, hide);
      tally.add(image);
      if (images === null) continue;
      images.push(image);
      bytes += Buffer.byteLength(JSON.stringify(image)) + 1;
      if (bytes > MAX_IMAGES_BYTES) images = null;
    }
  }
  const head = viewHead(job);
  const totals = tally.totals(job);
  const tail = viewTail(job, hide);
  if (images !== null) return { ...head, result: { images, ...totals }, ...tail };
  const resultUrl = `/v1/jobs/${encodeURIComponent(job.jobId)}/result`;
  return { ...head, result: totals, ...tail, result_url: resultUrl };
}
