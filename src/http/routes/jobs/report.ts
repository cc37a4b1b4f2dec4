/** `GET /v1/jobs/{job_id}/report`: an ended job as one page for people, with pictures. */
import { z } from '@hono/zod-openapi';
import { LatticeError } from '../../../api/errors.js';
import { reportPage, REPORT_POLICY } from '../../../report/report-page.js';
import { allKept, readReport } from '../../../report/read-report.js';
import { replyRaw } from '../../answer/reply.js';
import { readQuery } from '../../request/query.js';
import type { AddRoute } from '../../route.js';
import type { RouteParts } from '../../route-parts.js';
import { JOB_ERRORS, notFinished, params } from './job-of-path.js';
import { pictureDrawer } from './picture-maker.js';
import { ASKS_AGAIN, askedRequest, QUESTION_ERRORS, questionShape } from './question.js';

/** Each has a decoded picture in memory, and reads all images of its job. */
const MOST_REPORTS = 2;

const reportQuerySchema = z.strictObject({});

export function reportRoutes(route: AddRoute, parts: RouteParts): void {
  const { jobs, detector, hide, version } = parts;
  let reports = 0;
  route(
    {
      method: 'get',
      path: '/v1/jobs/{job_id}/report',
      operationId: 'getJobReport',
      summary: 'A finished job as a page for people',
      description:
        'One HTML file below 5 MB without script, which loads nothing: counts by class, folder and hour, failures, the ' +
        'settings, the model, and pictures with the surest and the least sure boxes and with boxes just below their ' +
        `threshold. A picture that cannot be read any more is named. ${ASKS_AGAIN}`,
      tags: ['Jobs'],
      request: { params, query: reportQuerySchema.extend(questionShape) },
      answers: {
        200: {
          description: 'The page',
          headers: z.object({ 'Content-Disposition': z.string() }),
          content: { 'text/html': { schema: z.string() } },
        },
      },
      errors: [...JOB_ERRORS, ...QUESTION_ERRORS, 'job_not_finished', 'overloaded'],
      // It shows pictures.
      pages: 'own',
    },
    async (c) => {
      const { query, question, ask } = askedRequest(c);
      readQuery(reportQuerySchema, query);
      const { job, images } = await ask(parts);
      if (job.completedAt === null) throw notFinished(job);
      if (reports >= MOST_REPORTS) {
        const detail = `${MOST_REPORTS} reports are made already. Ask again later.`;
        throw new LatticeError('overloaded', detail, { retryAfterS: 5 });
      }
      reports += 1;
      try {
        const wide = allKept(job, (await question(parts)) ?? {});
        const hasKept = job.spec.scoreFloor !== undefined;
        const page = await readReport({
          of: 'job',
          ...{ job, images, hide },
          kept: hasKept ? await jobs.asking(wide, c.get('keyId')) : null,
          // A report without licences is better than none.
          models: await detector.models().catch(() => []),
          draw: pictureDrawer(job, parts),
        });
        return replyRaw(c, 200, await reportPage(page, version), {
          'content-type': 'text/html; charset=utf-8',
          'content-disposition': `inline; filename="${job.jobId}.report.html"`,
          'content-security-policy': `${REPORT_POLICY}; frame-ancestors 'none'`,
          'cache-control': 'no-store',
        });
      } finally {
        reports -= 1;
      }
    },
  );
}
