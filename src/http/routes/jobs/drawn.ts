/** `GET /v1/jobs/{job_id}/drawn`: the pictures of a job with their boxes drawn, as a zip. */
import { z } from '@hono/zod-openapi';
import { LatticeError } from '../../../api/errors.js';
import { writeDrawn, type DrawnSource } from '../../../export/drawn.js';
import { relativeName } from '../../../export/export-source.js';
import type { JobImages } from '../../../jobs/stored-images.js';
import type { Job } from '../../../store/job.js';
import { replyPieces } from '../../answer/reply.js';
import { readQuery } from '../../request/query.js';
import { binary, type AddRoute } from '../../route.js';
import type { RouteParts } from '../../route-parts.js';
import { classNames } from './images.js';
import { JOB_ERRORS, notFinished, params } from './job-of-path.js';
import { pictureDrawer } from './picture-drawer.js';
import { ASKS_AGAIN, askedRequest, QUESTION_ERRORS, questionShape } from './question.js';
import { toWireEntry } from '../../../answers/result-record.js';

/** Each has a decoded picture in memory. */
const MOST_ARCHIVES = 4;

export const drawnQuerySchema = z.strictObject({
  class: classNames.optional().openapi({
    type: 'string',
    description: 'Draw boxes of these classes only: separated by commas, or a JSON array',
    example: 'car,bus',
  }),
});

export function drawnRoutes(route: AddRoute, parts: RouteParts): void {
  const { logger } = parts;
  let archives = 0;
  async function* counted(source: DrawnSource): AsyncGenerator<Uint8Array, void> {
    archives += 1;
    try {
      yield* writeDrawn(source);
    } finally {
      archives -= 1;
    }
  }
  route(
    {
      method: 'get',
      path: '/v1/jobs/{job_id}/drawn',
      operationId: 'getJobPictures',
      summary: 'The pictures of a finished job with their boxes drawn',
      description:
        'A zip of JPEG files that are drawn while it is sent, one by one. `pictures.csv` in it names the image of each; ' +
        '`left-out.txt` names images that cannot be read and images without a result. ' +
        ASKS_AGAIN,
      tags: ['Jobs'],
      request: { params, query: drawnQuerySchema.extend(questionShape) },
      answers: {
        200: {
          description: 'The archive',
          headers: z.object({ 'Content-Disposition': z.string() }),
          content: { 'application/zip': { schema: binary } },
        },
      },
      errors: [...JOB_ERRORS, ...QUESTION_ERRORS, 'job_not_finished', 'overloaded'],
    },
    async (c) => {
      const { query, ask } = askedRequest(c);
      const { class: classes } = readQuery(drawnQuerySchema, query);
      const { job, images } = await ask(parts);
      if (job.completedAt === null) throw notFinished(job);
      if (archives >= MOST_ARCHIVES) {
        const detail = `${MOST_ARCHIVES} archives of pictures are sent already. Ask again later.`;
        throw new LatticeError('overloaded', detail, { retryAfterS: 10 });
      }
      const onBroken = (error: unknown): void => {
        const fields = { err: error, job_id: job.jobId, request_id: c.get('requestId') };
        logger.error(fields, 'pictures broken off');
      };
      return replyPieces(c, 200, counted(drawnSource(job, images, classes, parts)), onBroken, {
        'content-type': 'application/zip',
        'content-disposition': `attachment; filename="${job.jobId}.pictures.zip"`,
      });
    },
  );
}

function drawnSource(
  job: Job,
  images: JobImages,
  classes: readonly string[] | undefined,
  parts: RouteParts,
): DrawnSource {
  const { hide } = parts;
  return {
    fileName: (path) => relativeName(hide(path)),
    pages: async function* () {
      for await (const page of images.imagePages(job.jobId)) {
        yield page.map((entry) => toWireEntry(job, entry, hide));
      }
    },
    isShown: (box) => classes === undefined || classes.includes(box.class),
    draw: pictureDrawer(job, parts),
  };
}
