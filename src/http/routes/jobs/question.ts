/** Another question of the boxes that a job keeps: parameters of the query of every reading of its images. */
import { z } from '@hono/zod-openapi';
import { LatticeError, type ErrorCode } from '../../../api/errors.js';
import {
  QUESTION_ROWS,
  RUN_ROWS,
  type Question,
  type WireQuestion,
} from '../../../api/question.js';
import { requestParameters } from '../../../api/schemas/option-schemas.js';
import type { JobImages } from '../../../jobs/stored-images.js';
import type { PictureRule } from '../../../store/cameras/camera-pictures.js';
import type { Job } from '../../../store/job.js';
import type { AppContext } from '../../app-env.js';
import { optionsFromTexts, unwrapped } from '../../request/options-from-texts.js';
import {
  classesSchema,
  refuseLongLists,
  refuseRegionsAndView,
} from '../../request/request-fields.js';
import { refuseUnknownClasses, requestedClasses } from '../../request/requested-classes.js';
import { validate } from '../../request/validation.js';
import type { RouteParts } from '../../route-parts.js';
import { jobOfPath } from './job-of-path.js';

const CLASSES = 'classes';

const questionSchema = z.strictObject({
  ...(Object.fromEntries(
    QUESTION_ROWS.map(({ wireName }) => [wireName, requestParameters[wireName]]),
  ) as Pick<typeof requestParameters, keyof WireQuestion>),
  [CLASSES]: classesSchema.nullish(),
});

/** The parameters, for the documentation: `readQuestion` checks them. */
export const questionShape: Record<string, z.ZodType> = Object.fromEntries(
  Object.entries(questionSchema.shape).map(([name, field]) => [
    name,
    (unwrapped(field) as z.ZodType)
      .optional()
      .openapi({ description: descriptionOf(field), default: undefined }),
  ]),
);

function descriptionOf(field: z.core.$ZodType): string {
  const text = (unwrapped(field) as z.ZodType).meta()?.description ?? 'Classes; `*` for all';
  return `${text.replace(/\.? Default.*$/s, '')}. Default: as the job asked`;
}

/** Sentences for the description of a route that takes a question. */
export const ASKS_AGAIN =
  'A job keeps the boxes of each image above LATTICE_SCORE_FLOOR, whatever it was asked for: with other thresholds, ' +
  'classes, sizes, regions or a view in the query the answer is that of a job with these. A question below the floor, ' +
  'of other tiles or another iou_threshold needs a new job (`needs_new_run`).';

export const QUESTION_ERRORS = ['needs_new_run', 'view_not_found'] as const satisfies ErrorCode[];

const OF_RUN = new Set<string>([...RUN_ROWS.map(({ wireName }) => wireName), 'model_name']);

export interface Asked {
  /** Its options are those of the question. */
  job: Job;
  images: JobImages;
  /** `other` as the question has it. */
  otherJob: (other: Job) => Job;
}

export interface AskedRequest {
  /** The parameters that are no question. */
  query: Record<string, string[]>;
  hasQuestion: boolean;
  /** The question, of jobs whatever their model; null: there is none. */
  question: (parts: RouteParts) => Promise<Question | null>;
  /**
   * Finds the job of the path, or the one that is given, and the reads that the question stands for; with `standing` of
   * vehicles that stand, those that do not, or all with what is known of them.
   */
  ask: (parts: RouteParts, job?: Job, standing?: PictureRule | null) => Promise<Asked>;
}

/** Takes the question out of the query. Throws `needs_new_run` for a parameter that the boxes themselves depend on. */
export function askedRequest(c: AppContext): AskedRequest {
  const given = Object.entries(c.req.queries());
  refuseOfRun(given.map(([name]) => name));
  const isAsked = ([name]: [string, unknown]) => name in questionSchema.shape;
  const texts = given
    .filter(isAsked)
    .flatMap(([name, values]) => values.map((text) => [name, text] as const));
  return {
    query: Object.fromEntries(given.filter((each) => !isAsked(each))),
    hasQuestion: texts.length > 0,
    question: async (parts) => (texts.length === 0 ? null : readQuestion(texts, null, parts)),
    ask: async (parts, found, standing = null) => {
      const { jobs } = parts;
      const job = found ?? (await jobOfPath(c, jobs));
      const hasQuestion = texts.length > 0;
      if (!hasQuestion && standing === null) {
        return { job, images: jobs, otherJob: (other) => other };
      }
      const { modelName } = job.spec.options;
      const question = hasQuestion ? await readQuestion(texts, modelName, parts) : {};
      const images = await jobs.asking(question, c.get('keyId'), standing);
      return { job: images.jobAsked(job), images, otherJob: (other) => images.jobAsked(other) };
    },
  };
}

function refuseOfRun(names: readonly string[]): void {
  const name = names.find((each) => OF_RUN.has(each));
  if (name === undefined) return;
  const detail = `${name} changes what the network finds in a picture: submit the images as a new job.`;
  throw new LatticeError('needs_new_run', detail);
}

/** `model`: whose classes may be named; null: any. */
async function readQuestion(
  texts: readonly (readonly [string, string])[],
  model: string | null,
  { catalogue, config }: RouteParts,
): Promise<Question> {
  const value = optionsFromTexts(questionSchema, texts);
  refuseLongLists(value, config);
  const body = validate(questionSchema, value);
  refuseRegionsAndView(body);
  const modelName = model ?? '';
  // The model may be gone by now. Then its classes are those of the boxes.
  const classesOf = () =>
    model === null ? Promise.resolve([]) : catalogue.classesOf(model).catch(() => []);
  await refuseUnknownClasses(body, modelName, { classesOf });
  const named = body[CLASSES];
  const fields = QUESTION_ROWS.flatMap(({ name, wireName }) => {
    const given = (body as Record<string, unknown>)[wireName];
    return given === undefined || given === null ? [] : [[name, given] as const];
  });
  return {
    ...(Object.fromEntries(fields) as Question),
    ...(named && {
      classes: await requestedClasses({ classes: named }, modelName, { classesOf }),
    }),
  };
}
