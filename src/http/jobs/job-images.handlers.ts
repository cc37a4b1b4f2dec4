/** `GET /v1/jobs/{job_id}/images` and `/summary`: a job's images page by page, and all of them in figures. */
import { viewParameters } from '../../api/options.js';
import { CONFIDENCE_STEPS, type ImageEntry, type ImageTally, type Job } from '../../jobs/job.js';
import type { AppDeps } from '../app-deps.js';
import type { HideFolders } from '../problem.js';
import { readQuery } from '../query.js';
import { replyJson } from '../reply.js';
import type { RouteHandler } from '../route.js';
import {
  imagesQuerySchema,
  type JobImageBody,
  type JobImagesBody,
  type JobSummaryBody,
} from './job-images.schema.js';
import { jobId } from '../routes/jobs/job-of-path.js';
import { metadataOf, viewEntry } from '../routes/jobs/result-record.js';

export interface JobImagesHandlers {
  images: RouteHandler;
  summary: RouteHandler;
}

export function createJobImagesHandlers(
  { jobs }: Pick<AppDeps, 'jobs'>,
  hide: HideFolders,
): JobImagesHandlers {
  return {
    images: async (c) => {
      const query = readQuery(imagesQuerySchema, c.req.queries());
      const { offset, limit, outcome, confidence_below } = query;
      const filter = { outcome, className: query.class, confidenceBelow: confidence_below };
      const job = await jobs.get(jobId(c), c.get('keyId'));
      const { entries, matching } = await jobs.filteredImages(job, filter, { offset, limit });
      const next = offset + entries.length;
      const body: JobImagesBody = {
        images: entries.map((entry) => viewJobImage(job, entry, hide)),
        matching,
        next_offset: entries.length > 0 && next < matching ? next : null,
      };
      return replyJson(c, 200, body);
    },
    summary: async (c) => {
      const job = await jobs.get(jobId(c), c.get('keyId'));
      return replyJson(c, 200, viewSummary(job, await jobs.tally(job)));
    },
  };
}

function viewJobImage(job: Job, entry: ImageEntry, hide: HideFolders): JobImageBody {
  const { index, path, outcome } = entry;
  if (outcome === null && job.completedAt === null) {
    return { index, image_path: path, status: 'pending' };
  }
  return { index, ...viewEntry(job, entry, hide) };
}

function viewSummary(job: Job, { found, empty, failed, boxes }: ImageTally): JobSummaryBody {
  const { spec, imageCount } = job;
  const { options } = spec;
  const left = Math.max(0, imageCount - found - empty - failed);
  const hasEnded = job.completedAt !== null;
  const classes = new Map<string, number[]>();
  for (const { class: name, step, boxes: count } of boxes) {
    const histogram = classes.get(name) ?? Array.from({ length: CONFIDENCE_STEPS }, () => 0);
    histogram[step] = count;
    classes.set(name, histogram);
  }
  const views = [...classes].map(([name, histogram]) => ({
    class: name,
    boxes: sum(histogram),
    confidence_histogram: histogram,
  }));
  return {
    job_id: job.jobId,
    images: {
      found,
      empty,
      failed: failed + (hasEnded ? left : 0),
      pending: hasEnded ? 0 : left,
    },
    total_count: sum(views.map((view) => view.boxes)),
    classes: views.sort((a, b) => b.boxes - a.boxes),
    request: {
      job_type: spec.jobType,
      model_name: options.modelName,
      ...viewParameters(options),
      ...(options.classes === null ? {} : { classes: [...options.classes] }),
      priority: spec.priority,
      annotate: spec.annotate,
      has_callback: spec.callbackUrl !== null,
    },
    metadata: metadataOf(job),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
