/** Job routes: valid input -> job service -> wire shape. */
import { FORMATS } from '../../export/formats.js';
import type { Idempotency, Job, JobSpec } from '../../jobs/job.js';
import type { AppDeps } from '../app-deps.js';
import { readJson } from '../json-body.js';
import type { HideFolders } from '../problem.js';
import { replyJson, replyPieces } from '../reply.js';
import type { RouteHandler } from '../route-table.js';
import { exportHeaders, exportSource, readFormat } from './export-view.js';
import { fingerprint, readIdempotencyKey } from './idempotency.js';
import { jobId, notFinished } from './job-of-path.js';
import { readListQuery } from './job-list-query.js';
import { viewAccepted, viewStatus, viewWebhook } from './job-view.js';
import { resultText, viewSingleResult } from './result-view.js';
import type { ReadSubmission } from './submit-request.js';

export interface JobHandlers {
  submit: RouteHandler;
  status: RouteHandler;
  result: RouteHandler;
  list: RouteHandler;
  cancel: RouteHandler;
}

export function createJobHandlers(
  deps: AppDeps,
  readSubmission: ReadSubmission,
  hide: HideFolders,
): JobHandlers {
  const { config, jobs } = deps;
  const status = async (job: Job): Promise<object> => {
    const view = viewStatus(job, hide);
    const webhooks =
      job.spec.callbackUrl === null ? undefined : await deps.webhooks?.forJob(job.jobId);
    return webhooks === undefined ? view : { ...view, webhooks: webhooks.map(viewWebhook) };
  };
  const submit = async (
    body: unknown,
    keyId: string | null,
    idempotency: Idempotency | undefined,
  ): Promise<{ job: Job; replayed: boolean }> => {
    let spec: JobSpec;
    try {
      spec = await readSubmission(body, keyId);
    } catch (thrown) {
      // What made the first submission right may be gone since: its files, its model. The job is not.
      const job = idempotency && (await jobs.repeated(keyId, idempotency).catch(() => null));
      if (!job) throw thrown;
      return { job, replayed: true };
    }
    return jobs.submit(spec, idempotency);
  };
  return {
    submit: async (c) => {
      const key = readIdempotencyKey(c.req.header('idempotency-key'), c.get('keyId'));
      const body = await readJson(c, config.maxBodyBytes);
      const idempotency = key === undefined ? undefined : { key, fingerprint: fingerprint(body) };
      const { job, replayed } = await submit(body, c.get('keyId'), idempotency);
      return replyJson(c, 202, viewAccepted(job, replayed), {
        location: `/v1/jobs/${job.jobId}/status`,
        ...(replayed ? { 'idempotency-replayed': 'true' } : {}),
      });
    },
    status: async (c) => replyJson(c, 200, await status(await jobs.get(jobId(c), c.get('keyId')))),
    result: async (c) => {
      const format = readFormat(c.req.queries());
      const job = await jobs.get(jobId(c), c.get('keyId'));
      if (job.status === 'pending' || job.status === 'running') {
        throw notFinished(job);
      }
      const onBroken = (error: unknown): void => {
        const fields = { err: error, job_id: job.jobId, request_id: c.get('requestId') };
        deps.logger.error(fields, 'result broken off');
      };
      if (format !== 'json') {
        const pieces = FORMATS[format].write(await exportSource(job, deps, hide));
        return replyPieces(c, 200, pieces, onBroken, exportHeaders(job, format));
      }
      const [only] = job.imageCount === 1 ? await jobs.images(job.jobId) : [];
      if (only !== undefined) return replyJson(c, 200, viewSingleResult(job, only, hide));
      return replyPieces(c, 200, resultText(job, jobs.imagePages(job.jobId), hide), onBroken);
    },
    list: async (c) => {
      const { filter, page, counts } = readListQuery(c.req.queries(), c.get('keyId'));
      const { jobs: found, nextCursor } = await jobs.list(filter, page);
      return replyJson(c, 200, {
        jobs: found.map((job) => viewStatus(job, hide)),
        next_cursor: nextCursor,
        ...(counts ? { counts: await jobs.countByStatus(filter) } : {}),
      });
    },
    cancel: async (c) =>
      replyJson(c, 200, await status(await jobs.cancel(jobId(c), c.get('keyId')))),
  };
}
