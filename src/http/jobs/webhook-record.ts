/** The record that a webhook carries: a message that a receiver takes in one piece. */
import type { ImageEntry, Job } from '../../jobs/job.js';
import type { HideFolders } from '../problem.js';
import type { ImageEntryBody, JobDigestBody, JobResultBody } from './job.schema.js';
import { Tally, viewEntry, viewHead, viewResult, viewTail, type Totals } from './result-view.js';

/** With all else that a record holds the message stays below 1 MiB, which is where common web servers refuse. */
const MAX_IMAGES_BYTES = 960_000;
/** A few hundred bytes each. Beyond, the job whose webhook was composed longest ago is added up again. */
const REMEMBERED_JOBS = 1_000;

/**
 * Composes webhooks of jobs that have ended. An ended job does not change, so what the images of a large one come to
 * is added up once in the life of this object, not at each attempt.
 */
export class WebhookRecords {
  readonly #hide: HideFolders;
  /** By the id of the job: those whose images are too long for a message. */
  readonly #totals = new Map<string, Totals>();

  constructor(hide: HideFolders) {
    this.#hide = hide;
  }

  /**
   * The result record, or where its images are too long the record without them and with the way to them. `pages` are
   * all images of the job; they are read only where they are needed.
   */
  async view(
    job: Job,
    pages: AsyncIterable<readonly ImageEntry[]>,
  ): Promise<JobResultBody | JobDigestBody> {
    const read = this.#totals.get(job.jobId) ?? (await this.#read(job, pages));
    if (Array.isArray(read)) return viewResult(job, read, this.#hide);
    this.#remember(job.jobId, read);
    return {
      ...viewHead(job),
      result: read,
      ...viewTail(job, this.#hide),
      result_url: `/v1/jobs/${encodeURIComponent(job.jobId)}/result`,
    };
  }

  /** All images, or what they come to where they are too long. */
  async #read(
    job: Job,
    pages: AsyncIterable<readonly ImageEntry[]>,
  ): Promise<ImageEntry[] | Totals> {
    const tally = new Tally();
    let kept: ImageEntry[] | null = [];
    let bytes = 0;
    for await (const page of pages) {
      for (const entry of page) {
        const image = viewEntry(job, entry, this.#hide);
        tally.add(image);
        if (kept === null) continue;
        kept.push(entry);
        bytes += bytesOf(image);
        if (bytes > MAX_IMAGES_BYTES && job.imageCount > 1) kept = null;
      }
    }
    return kept ?? tally.totals(job);
  }

  #remember(jobId: string, totals: Totals): void {
    this.#totals.delete(jobId);
    this.#totals.set(jobId, totals);
    const [oldest] = this.#totals.keys();
    if (this.#totals.size > REMEMBERED_JOBS && oldest !== undefined) this.#totals.delete(oldest);
  }
}

function bytesOf(image: ImageEntryBody): number {
  return Buffer.byteLength(JSON.stringify(image)) + 1;
}
