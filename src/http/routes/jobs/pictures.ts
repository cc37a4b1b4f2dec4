/** Pictures of a job as a zip: with their boxes drawn, with their boxes covered, and one of each box. */
import { z } from '@hono/zod-openapi';
import { LatticeError } from '../../../api/errors.js';
import {
  COVER_MARGIN,
  COVER_WAYS,
  CROP_MARGIN,
  MOST_MARGIN,
  type PictureKind,
} from '../../../api/job-values.js';
import type { Detection } from '../../../api/schemas/image.js';
import { relativeName } from '../../../export/export-source.js';
import { zippedPictures, type PictureSource } from '../../../export/pictures.js';
import type { Job } from '../../../store/job.js';
import { replyPieces } from '../../answer/reply.js';
import { coveredClasses, isCovered } from '../../request/covered-classes.js';
import { readQuery } from '../../request/query.js';
import { binary, type AddRoute } from '../../route.js';
import type { RouteParts } from '../../route-parts.js';
import { exportPages } from './result.js';
import { classNames } from './images.js';
import { JOB_ERRORS, notFinished, params } from './job-of-path.js';
import { pictureSource, type ChosenPictures } from './picture-maker.js';
import { ASKS_AGAIN, askedRequest, QUESTION_ERRORS, questionShape } from './question.js';

/** Each has a decoded picture in memory. */
const MOST_ARCHIVES = 4;

const classField = (description: string) =>
  classNames.optional().openapi({ type: 'string', description, example: 'car,bus' });

function marginField(description: string, usual: number) {
  return z
    .string()
    .regex(/^(?:0(?:\.\d+)?|1(?:\.0+)?)$/, { error: `A margin is 0 to ${MOST_MARGIN}.` })
    .transform(Number)
    .default(usual)
    .openapi({ type: 'number', minimum: 0, maximum: MOST_MARGIN, description, default: usual });
}

const LIST = 'separated by commas, or a JSON array';

export const drawnQuerySchema = z.strictObject({
  class: classField(`Draw boxes of these classes only: ${LIST}`),
});

export const coveredQuerySchema = z.strictObject({
  class: classField(`Cover boxes of these classes: ${LIST}. Default: all boxes`),
  how: z
    .enum(COVER_WAYS, { error: `how is one of ${COVER_WAYS.join(', ')}.` })
    .default('pixelate')
    .openapi({
      default: 'pixelate',
      description:
        'pixelate: at most 8 blocks on the longer side, each the mean of its pixels; blur: smooth ways between these ' +
        'means; fill: black, which has nothing of what was there',
    }),
  margin: marginField(
    "Share of a box's width and height that is covered around it on each side",
    COVER_MARGIN,
  ),
});

export const cropsQuerySchema = z.strictObject({
  class: classField(`Cut out boxes of these classes only: ${LIST}`),
  margin: marginField(
    "Share of a box's width and height that is cut out with it on each side",
    CROP_MARGIN,
  ),
});

interface PictureRoute {
  kind: PictureKind;
  operationId: string;
  summary: string;
  text: string;
  /** The end of the archive's name, after the id of the job. */
  ending: string;
  query: typeof drawnQuerySchema | typeof coveredQuerySchema | typeof cropsQuerySchema;
  /** Throws or rejects with `validation_failed`. */
  choose: (
    query: Record<string, string[]>,
    job: Job,
    parts: RouteParts,
  ) => Promise<ChosenPictures> | ChosenPictures;
}

const isOf = (classes: readonly string[] | undefined) => (box: Detection) =>
  classes === undefined || classes.includes(box.class);

const LEFT_OUT =
  '`left-out.txt` names images that cannot be read and images without a result. ' + ASKS_AGAIN;

const ROUTES: readonly PictureRoute[] = [
  {
    kind: 'drawn',
    operationId: 'getJobPictures',
    summary: 'The pictures of a finished job with their boxes drawn',
    text: 'A zip of JPEG files that are drawn while it is sent, one by one. `pictures.csv` in it names the image of each; ',
    ending: 'pictures.zip',
    query: drawnQuerySchema,
    choose: (query) => ({
      look: { kind: 'drawn' },
      isShown: isOf(readQuery(drawnQuerySchema, query).class),
    }),
  },
  {
    kind: 'covered',
    operationId: 'getJobCovered',
    summary: 'The pictures of a finished job with their boxes covered',
    text:
      'A zip of new JPEG files without EXIF, thumbnail or profile, in which boxes cannot be made visible again. It is no ' +
      'guarantee: what the model has missed is not covered. `covered.csv` in it names the image of each, with the number ' +
      'of covered boxes; an image that has changed since its boxes were found is left out. ',
    ending: 'covered.zip',
    query: coveredQuerySchema,
    choose: async (query, job, { catalogue }) => {
      const { class: named, how, margin } = readQuery(coveredQuerySchema, query);
      const classes = await coveredClasses(named, job.spec.options, catalogue);
      return {
        look: { kind: 'covered', how, margin },
        isShown: (box) => isCovered(box, classes),
      };
    },
  },
  {
    kind: 'crops',
    operationId: 'getJobCrops',
    summary: 'The boxes of a finished job as pictures, by class',
    text:
      'A zip of JPEG files, `crops/CLASS/NAME-N.jpg`: N is the place of the box among those of its image, from 1. ' +
      '`crops.csv` in it has the image, class, confidence and box of each. ',
    ending: 'crops.zip',
    query: cropsQuerySchema,
    choose: (query) => {
      const { class: classes, margin } = readQuery(cropsQuerySchema, query);
      return { look: { kind: 'crops', margin }, isShown: isOf(classes) };
    },
  },
];

export function pictureRoutes(route: AddRoute, parts: RouteParts): void {
  const { logger } = parts;
  let archives = 0;
  async function* counted(source: PictureSource): AsyncGenerator<Uint8Array, void> {
    archives += 1;
    try {
      yield* zippedPictures(source);
    } finally {
      archives -= 1;
    }
  }
  for (const { kind, operationId, summary, text, ending, query: schema, choose } of ROUTES) {
    route(
      {
        method: 'get',
        path: `/v1/jobs/{job_id}/${kind}`,
        operationId,
        summary,
        description: text + LEFT_OUT,
        tags: ['Jobs'],
        request: { params, query: schema.extend(questionShape) },
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
        const { job, images } = await ask(parts);
        const chosen = await choose(query, job, parts);
        if (job.completedAt === null) throw notFinished(job);
        if (archives >= MOST_ARCHIVES) {
          const detail = `${MOST_ARCHIVES} archives of pictures are sent already. Ask again later.`;
          throw new LatticeError('overloaded', detail, { retryAfterS: 10 });
        }
        const onBroken = (error: unknown): void => {
          const fields = { err: error, job_id: job.jobId, request_id: c.get('requestId') };
          logger.error(fields, 'pictures broken off');
        };
        const { hide } = parts;
        const fileName = (path: string) => relativeName(hide(path));
        const pages = () => exportPages(job, images, hide);
        const pieces = counted(pictureSource(job, { fileName, pages }, chosen, parts));
        return replyPieces(c, 200, pieces, onBroken, {
          'content-type': 'application/zip',
          'content-disposition': `attachment; filename="${job.jobId}.${ending}"`,
        });
      },
    );
  }
}
