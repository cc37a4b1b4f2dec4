/** One line of the log per request that has ended: by its id the answer, the webhook and the job are found. */
import type { Config } from '../settings/config.js';
import type { Logger } from '../base/logger-port.js';
import type { AppContext } from './app-env.js';

/** Paths that machines and open pages ask for every few seconds. Only failures there are logged. */
const OFTEN = /^\/(?:healthz|livez|readyz|metrics|ui(?:\/.*)?)$/;

/** Requests that fail are logged always, of the others a share. */
export function createRequestLog(
  { requestLog }: Pick<Config, 'requestLog'>,
  logger: Logger,
): (c: AppContext, ms: number) => void {
  return (c, ms) => {
    const { status } = c.res;
    if (status < 400 && (OFTEN.test(c.req.path) || !(Math.random() < requestLog))) return;
    const fields = {
      request_id: c.get('requestId'),
      trace_id: c.get('trace')?.traceId,
      method: c.req.method,
      route: c.get('route') ?? 'unmatched',
      status,
      ms: Math.round(ms * 10) / 10,
      code: c.get('errorCode'),
      model: c.get('modelName'),
      job_id: c.get('jobId'),
      key: c.get('keyId') ?? undefined,
    };
    logger.info(fields, 'request');
  };
}
