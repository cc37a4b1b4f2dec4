/** Whose images are counted, of which hours, and which are left out: of every route over the jobs of a scope. */
import { z } from '@hono/zod-openapi';
import { CAMERAS, STATIC_CHOICES } from '../../api/job-values.js';
import { notRunSchema } from '../../answers/job-fields.js';
import type { CountFigures } from '../../store/count-tally.js';
import type { CountScope } from '../../store/count-rows.js';
import { validationFailed } from '../request/validation.js';
import type { RouteParts } from '../route-parts.js';
import { listQuerySchema } from './jobs/list-query.js';
import { watchNameSchema } from './watches.js';

const HOUR = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:T(?:[01]\d|2[0-3])(?::00)?)?$/;

/** A whole hour or a day of wall time -> an hour as the store has it. */
const hourSchema = (name: string) =>
  z
    .string()
    .regex(HOUR, { error: `${name} is a day or a whole hour: 2025-11-26 or 2025-11-26T14:00.` })
    .transform((text) =>
      text.includes('T') ? text.slice(0, '2025-11-26T14'.length) : `${text}T00`,
    );

export const scopeShape = {
  watch: watchNameSchema.optional().openapi({ description: 'Jobs of this watch' }),
  tag: listQuerySchema.shape.tag,
  from: hourSchema('from').optional().openapi({
    type: 'string',
    description:
      'The first hour of the pictures, as the clock on the wall showed it. With bounds, images without a time are left out',
    example: '2025-11-01',
  }),
  to: hourSchema('to').optional().openapi({
    type: 'string',
    description: 'The hour after the last one; a day is its beginning',
    example: '2025-12-01',
  }),
};

type ScopeQuery = z.output<z.ZodObject<typeof scopeShape>>;

/** Throws `validation_failed`. */
export function scopeOf({ watch, tag, from, to }: ScopeQuery, keyId: string | null): CountScope {
  if (watch === undefined && tag === undefined) {
    throw validationFailed([{ detail: 'Say whose images are counted: watch or tag.' }]);
  }
  if (from !== undefined && to !== undefined && from >= to) {
    throw validationFailed([{ detail: 'to is later than from.' }]);
  }
  return { jobs: { keyId, watch, tag }, from, until: to };
}

/** The scope of an answer. */
export const scopeBodyShape = {
  watch: z.string().nullable(),
  tag: z.string().nullable(),
  from: z.string().nullable().openapi({ example: '2025-11-01T00:00' }),
  to: z.string().nullable().openapi({ example: '2025-12-01T00:00' }),
};

export function toWireScope({ watch, tag, from, to }: ScopeQuery) {
  const hourText = (hour: string | undefined) => (hour === undefined ? null : `${hour}:00`);
  return { watch: watch ?? null, tag: tag ?? null, from: hourText(from), to: hourText(to) };
}

export const figuresShape = {
  jobs: z.int().openapi({ description: 'That are stored, with or without images in these hours' }),
  pending_images: z.int().openapi({
    description: 'Images of these jobs that have not ended: they are not counted yet',
  }),
  not_run_images: notRunSchema,
  removed_images: z.int().openapi({
    description:
      'Images in these hours whose results were removed with their jobs. They are counted by the question of their ' +
      'jobs, and not counted where the query asks another one or for events, places or vehicles that stand',
  }),
  unanswered_images: z.int().openapi({
    description:
      'Images in these hours of jobs whose boxes cannot answer the question of the query: they are not counted, and need a new run',
  }),
};

export function toWireFigures(figures: CountFigures) {
  return {
    jobs: figures.jobs,
    pending_images: figures.pendingImages,
    not_run_images: figures.notRunImages,
    removed_images: figures.removedImages,
    unanswered_images: figures.unansweredImages,
  };
}

/** Boxes count wherever their vehicles stand. */
export const ALL_BOXES = { camera: CAMERAS[0], static: STATIC_CHOICES[0] };

/** Rejects with `watch_not_found` where a scope without an image is of a watch that never was. */
export async function refuseUnknownWatch(
  { jobs, watches }: Pick<RouteParts, 'jobs' | 'watches'>,
  watch: string | undefined,
  found: CountFigures,
  keyId: string | null,
): Promise<void> {
  if (watch === undefined || found.jobs + found.removedImages > 0) return;
  // A watch that is deleted has its counts, in other hours or without the tag.
  const all = await jobs.countsOf({ jobs: { keyId, watch } }, ALL_BOXES, null, keyId);
  if (all.jobs + all.removedImages === 0) await watches.get(watch, keyId);
}
