/** `POST /v1/jobs/{job_id}/retry`: images of an ended job as a new one. */
import { LatticeError } from '../../api/errors.js';
import type { Job, RetriedImages } from '../../jobs/job.js';
import type { AppDeps } from '../app-deps.js';
import type { ModelCatalogue } from '../models/model-catalogue.js';
import { readQuery } from '../query.js';
import { replyJson } from '../reply.js';
import type { RouteHandler } from '../route-table.js';
import { fingerprint, readIdempotencyKey } from './idempotency.js';
import { jobId, notFinished } from './job-of-path.js';
import { viewAccepted } from './job-view.js';
import { retryQuerySchema } from './job.schema.js';

export function createRetryHandler(
  { jobs, draining }: Pick<AppDeps, 'jobs' | 'draining'>,
  catalogue: ModelCatalogue,
): RouteHandler {
  /** Rejects where a submission of these images would be refused. */
  const check = async (retryOf: string, keyId: string | null): Promise<void> => {
    if (draining()) throw new LatticeError('shutting_down', 'The service is stopping.');
    const job = await jobs.get(retryOf, keyId);
    if (job.completedAt === null) throw notFinished(job);
    await catalogue.check(job.spec.modelName);
  };
  return async (c) => {
    const retryOf = jobId(c);
    const { images = 'failed' } = readQuery(retryQuerySchema, c.req.queries());
    const keyId = c.get('keyId');
    const key = readIdempotencyKey(c.req.header('idempotency-key'), keyId);
    const idempotency =
      key === undefined ? undefined : { key, fingerprint: fingerprint(requestOf(retryOf, images)) };
    let retried: { job: Job; replayed: boolean };
    try {
      await check(retryOf, keyId);
      retried = await jobs.retry(retryOf, keyId, images, idempotency);
    } catch (thrown) {
      // The job that was retried, or its model, may be gone since the first call with this key.
      const job = idempotency && (await jobs.repeated(keyId, idempotency).catch(() => null));
      if (!job) throw thrown;
      retried = { job, replayed: true };
    }
    const { job, replayed } = retried;
    return replyJson(
      c,
      202,
      { ...viewAccepted(job, replayed), retry_of: retryOf },
      {
        location: `/v1/jobs/${job.jobId}/status`,
        ...(replayed ? { 'idempotency-replayed': 'true' } : {}),
      },
    );
  };
}

/** That of the failed images has the form that it had before there was a choice: keys of then still hold. */
function requestOf(retryOf: string, images: RetriedImages): object {
  return images === 'failed' ? { retry_of: retryOf } : { retry_of: retryOf, images };
}
