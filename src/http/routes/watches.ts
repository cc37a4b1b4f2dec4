/** `/v1/watches`: folders whose new files are submitted as they come. Each API key has its own. */
import { z } from '@hono/zod-openapi';
import { errorsOf, type ErrorCode } from '../../api/errors.js';
import { EVENT_GAP_S } from '../../api/job-values.js';
import { withoutNulls } from '../../api/json-object.js';
import { snakeCase } from '../../api/snake-case.js';
import { DAYS } from '../../api/watch-times.js';
import { withMember } from '../../base/json-text.js';
import { checkImagePath, refuseCostlyGlob } from '../../files/image-paths.js';
import { EXISTING_FILES, watchNotFound, type WatchContent } from '../../store/watched.js';
import { waitingFiles, WATCH_STATES } from '../../watches/watch-run.js';
import type { WatchSnapshot } from '../../watches/watches.js';
import { replyJsonText, replyRaw } from '../answer/reply.js';
import type { AppContext } from '../app-env.js';
import { readJsonText } from '../request/json-body.js';
import { NULL_IS_NOT_GIVEN, refuseLongLists } from '../request/request-fields.js';
import { memberText } from '../request/sent-text.js';
import { validate } from '../request/validation.js';
import { json, type AddRoute, type RouteSpec } from '../route.js';
import type { RouteParts } from '../route-parts.js';
import { timestampSchema } from '../../answers/job-fields.js';
import { jobSubmitSchema } from './jobs/read-submission.js';

const MOST_PATHS = 20;
const MOST_TIMES = 20;
const SETTLE_MS = { least: 100, most: 600_000, default: 1_000 };
const INTERVAL_MS = { least: 500, most: 86_400_000, default: 5_000 };
const BATCH = { images: 100, mostImages: 10_000, waitS: 0, mostWaitS: 3_600 };

const NAME = /^\w[\w.-]{0,63}$/;
export const watchNameSchema = z
  .string()
  .regex(NAME, {
    error: 'A name of a watch has 1 to 64 letters, digits and _ - . and begins with none of - .',
  })
  .openapi({ example: 'north-gate' });

const timeSchema = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, { error: 'A time of day is HH:MM.' })
  .openapi({ example: '06:00' });

const scheduledSchema = z
  .strictObject({
    from: timeSchema,
    to: timeSchema.openapi({
      description: 'Not later than from: on the next day',
      example: '20:00',
    }),
    days: z
      .array(z.enum(DAYS))
      .min(1)
      .max(DAYS.length)
      .nullish()
      .openapi({ description: 'On which from lies. Default: all' }),
  })
  .openapi('ScheduledTime', { example: { from: '06:00', to: '20:00', days: ['mon', 'tue'] } });

const batchSchema = z
  .strictObject({
    max_images: z.int().min(1).max(BATCH.mostImages).nullish().openapi({ default: BATCH.images }),
    max_wait_s: z.number().min(0).max(BATCH.mostWaitS).nullish().openapi({
      description: 'How long the first file waits for others after its arrival',
      default: BATCH.waitS,
    }),
  })
  .openapi('WatchBatch', { example: { max_images: 100, max_wait_s: 10 } });

/** Its images come to a watch, and the name is its own. */
const { image_paths: imagePathsSchema, reuse: reuseSchema } = jobSubmitSchema.shape;
const settingsShape = jobSubmitSchema.omit({
  ...{ image_paths: true, literal_paths: true, upload: true, name: true },
}).shape;
const REUSE = 'unchanged';

const fields = {
  ...settingsShape,
  reuse: reuseSchema.openapi({ default: REUSE }),
  paths: imagePathsSchema.max(MOST_PATHS).openapi({
    description:
      'Folders, globs or names of files, as image_paths of a submission. They need not be there yet',
    example: ['cameras/north'],
  }),
  settle_ms: z.int().min(SETTLE_MS.least).max(SETTLE_MS.most).nullish().openapi({
    description: 'How long size and time of a file rest before it counts',
    default: SETTLE_MS.default,
  }),
  interval_ms: z.int().min(INTERVAL_MS.least).max(INTERVAL_MS.most).nullish().openapi({
    description:
      'Between two scans of the folders. Changes that the system tells of (inotify) are found at once',
    default: INTERVAL_MS.default,
  }),
  schedule: z
    .array(scheduledSchema)
    .min(1)
    .max(MOST_TIMES)
    .nullish()
    .openapi({
      description:
        'When the watch works, in the local time of the service. Files that come at other times wait in the folder. ' +
        'Default: always',
    }),
  batch: batchSchema.nullish().openapi({
    description: 'At most so many images per job. A watch has at most 4 jobs that have not ended',
  }),
  existing: z.enum(EXISTING_FILES).nullish().openapi({
    description: 'Files that lie in the folders when the watch begins: submit them or leave them',
    default: 'take',
  }),
  paused: z.boolean().nullish().openapi({ default: false }),
  camera_health: z.boolean().nullish().openapi({
    description:
      'Tell when a camera is covered, turned away, out of focus, frozen or late; each folder of pictures is a camera',
    default: false,
  }),
  event_gap_s: z
    .number()
    .min(0)
    .max(EVENT_GAP_S.most)
    .nullish()
    .openapi({
      description:
        'Tell once of pictures of a camera with at most so many seconds between them that show a vehicle; each folder of ' +
        'pictures is a camera. Default: events are not told',
    }),
};

const watchCreateSchema = z
  .strictObject({ ...fields, name: watchNameSchema })
  .openapi('WatchCreate', {
    description: NULL_IS_NOT_GIVEN,
    example: {
      name: 'north-gate',
      paths: ['cameras/north'],
      job_type: 'detect_vehicles',
      confidence_threshold: 0.5,
      batch: { max_images: 100, max_wait_s: 10 },
    },
  });

const watchPatchSchema = z
  .strictObject(fields)
  .partial()
  .openapi('WatchPatch', {
    description: 'A field that is null has its default again; others stay as they are.',
    example: { paused: true },
  });

const scanSchema = z
  .object({
    at: timestampSchema,
    took_ms: z.number(),
    files: z.int(),
    noticed: z.boolean().openapi({ description: 'The system tells of changed folders' }),
  })
  .openapi('WatchScan');

const lagSchema = z.object({ p50: z.number(), p99: z.number() }).openapi('WatchLag', {
  description:
    'Seconds from arrival to result, of the newest 1000 files since the service was started',
});

const statusWire = snakeCase(
  z.object({
    state: z.enum(WATCH_STATES).openapi({
      description:
        'listing: files that lay there at the beginning are being told from new ones; paused; scheduled: it waits for ' +
        'its times; away: none of its paths is there',
    }),
    reason: z.string().nullable().openapi({
      description:
        'What could not be read, why nothing is submitted now, or which files never rest and are taken as they are',
    }),
    files: z
      .object({
        known: z.int().openapi({ description: 'In their present version submitted or left' }),
        waiting: z.int().openapi({ description: 'Seen, and not in a job yet' }),
        pending: z.int().openapi({ description: 'In a job that has not ended' }),
        submitted: z.int().openapi({ description: 'Since the watch began, as the following' }),
        succeeded: z.int(),
        failed: z.int(),
        skipped: z.record(z.string(), z.int()).openapi({
          description:
            'Not taken, by reason: empty, no permission, a link that leads out, or the ending of a format that is not read',
          example: { '.heic': 3 },
        }),
      })
      .openapi('WatchFiles'),
    lastScan: z.union([scanSchema, z.null()]),
    lagS: z.union([lagSchema, z.null()]),
  }),
);

const { metadata: metadataSchema, ...answeredFields } = fields;
const watchSchema = z
  .object({
    name: watchNameSchema,
    created_at: timestampSchema,
    ...answeredFields,
    ...statusWire.shape,
    metadata: metadataSchema,
  })
  .openapi('Watch');
const watchListSchema = z.object({ watches: z.array(watchSchema) }).openapi('WatchList');

type WatchFields = z.infer<typeof watchCreateSchema>;
export type WatchCreateBody = WatchFields;
export type WatchPatchBody = z.infer<typeof watchPatchSchema>;
export type WatchBody = z.infer<typeof watchSchema>;
export type WatchListBody = z.infer<typeof watchListSchema>;

const params = z.object({ name: watchNameSchema });
const ofWatch = { tags: ['Watches'], request: { params } };
const REFUSALS = [
  ...errorsOf('model'),
  'unknown_view',
  'model_not_ready',
  'path_not_allowed',
  'storage_unavailable',
] as const satisfies ErrorCode[];

const LIST: RouteSpec = {
  method: 'get',
  path: '/v1/watches',
  operationId: 'listWatches',
  summary: 'Watched folders',
  description: 'The watches of the API key, by name, each with what it sees and has done.',
  tags: ['Watches'],
  answers: { 200: json('All watches', watchListSchema) },
  errors: ['storage_unavailable'],
};

const ADD: RouteSpec = {
  method: 'post',
  path: '/v1/watches',
  operationId: 'addWatch',
  summary: 'Watch folders',
  description:
    'Submits images that come into the folders, as jobs that name the watch: each version of a file once. Answers ' +
    'when the watch is on disk and has seen its folders; where that takes more than 10 seconds, its state says so. ' +
    'Files that come before `listing` is over count as existing.',
  tags: ['Watches'],
  request: {
    body: { required: true, content: { 'application/json': { schema: watchCreateSchema } } },
  },
  answers: { 201: json('The new watch', watchSchema) },
  errors: [...REFUSALS, 'watch_exists', 'shutting_down'],
};

const GET: RouteSpec = {
  method: 'get',
  path: '/v1/watches/{name}',
  operationId: 'getWatch',
  summary: 'A watch',
  description: 'What it watches, what it sees and what it has done.',
  ...ofWatch,
  answers: { 200: json('The watch', watchSchema) },
  errors: ['watch_not_found', 'storage_unavailable'],
};

const CHANGE: RouteSpec = {
  method: 'patch',
  path: '/v1/watches/{name}',
  operationId: 'changeWatch',
  summary: 'Change, pause or resume a watch',
  description:
    'Changes the fields that are sent. Settings of jobs are for files that are submitted from then on. Files of a ' +
    'path that is new count as existing.',
  tags: ['Watches'],
  request: {
    params,
    body: { required: true, content: { 'application/json': { schema: watchPatchSchema } } },
  },
  answers: { 200: json('The watch', watchSchema) },
  errors: [...REFUSALS, 'watch_not_found'],
};

const DELETE: RouteSpec = {
  method: 'delete',
  path: '/v1/watches/{name}',
  operationId: 'deleteWatch',
  summary: 'End a watch',
  description: 'Its jobs go on and stay. What it knows of its files is forgotten.',
  ...ofWatch,
  answers: { 204: { description: 'It is deleted' } },
  errors: ['watch_not_found', 'storage_unavailable'],
};

export function watchRoutes(route: AddRoute, parts: RouteParts): void {
  const { watches, config } = parts;
  const contentOf = createReadContent(parts);
  route(LIST, async (c) => {
    const texts = (await watches.list(c.get('keyId'))).map(textOf);
    return replyJsonText(c, 200, `{"watches":[${texts.join(',')}]}`);
  });
  route(ADD, async (c) => {
    const { value, text } = await readJsonText(c, config.maxBodyBytes);
    const keyId = c.get('keyId');
    const { name, content } = await contentOf(value, () => memberText(text, ['metadata']), keyId);
    return replyJsonText(c, 201, textOf(await watches.add(name, content, keyId)));
  });
  route(GET, async (c) =>
    replyJsonText(c, 200, textOf(await watches.get(knownName(c), c.get('keyId')))),
  );
  route(CHANGE, async (c) => {
    const name = knownName(c);
    const keyId = c.get('keyId');
    const { value, text } = await readJsonText(c, config.maxBodyBytes);
    refuseLongLists(value, config);
    const patch = validate(watchPatchSchema, value);
    const sent = memberText(text, ['metadata']);
    const snapshot = await watches.change(name, keyId, async (watch) => {
      const metadata = sent ?? watch.settings.metadata ?? undefined;
      const given = metadata === undefined ? {} : { metadata: JSON.parse(metadata) as unknown };
      const whole = { name, ...writtenFields(watch), ...given, ...patch };
      return (await contentOf(whole, () => metadata, keyId)).content;
    });
    return replyJsonText(c, 200, textOf(snapshot));
  });
  route(DELETE, async (c) => {
    await watches.remove(knownName(c), c.get('keyId'));
    return replyRaw(c, 204, null, {});
  });
}

/** Reads a body that was sent, or a watch with what a PATCH changes. */
function createReadContent({ config, readSettings }: RouteParts) {
  return async (
    value: unknown,
    metadataText: () => string | undefined,
    keyId: string | null,
  ): Promise<{ name: string; content: WatchContent }> => {
    refuseLongLists(value, config);
    const body = validate(watchCreateSchema, value);
    body.paths.forEach((path, at) => {
      checkImagePath(path, config.imageRoots, `#/paths/${at}`);
      refuseCostlyGlob(path, `#/paths/${at}`);
    });
    const { name, paths, settle_ms, interval_ms, schedule, batch, existing, paused, ...rest } =
      body;
    const { camera_health, event_gap_s, ...request } = rest;
    const wanted = { ...request, reuse: request.reuse ?? REUSE } as const;
    const settings = await readSettings(wanted, metadataText, keyId);
    const content = {
      paths: [...new Set(paths)],
      settleMs: settle_ms ?? SETTLE_MS.default,
      intervalMs: interval_ms ?? INTERVAL_MS.default,
      schedule: schedule?.map(({ days, ...time }) => (days ? { ...time, days } : time)) ?? null,
      batch: {
        maxImages: Math.min(batch?.max_images ?? BATCH.images, config.maxImagesPerJob),
        maxWaitS: batch?.max_wait_s ?? BATCH.waitS,
      },
      existing: existing ?? 'take',
      paused: paused ?? false,
      cameraHealth: camera_health ?? false,
      eventGapS: event_gap_s ?? null,
      request: withoutNulls({ ...request, metadata: null }),
      settings,
    };
    return { name, content };
  };
}

/** Names that no watch can have are not looked up. */
export function knownName(c: AppContext): string {
  const name = c.req.param('name') ?? '';
  if (!NAME.test(name)) throw watchNotFound(name);
  return name;
}

/** The fields of a stored watch under the names that a request body uses. */
function writtenFields(watch: WatchContent) {
  const { paths, settleMs, intervalMs, schedule, batch, existing, paused, request } = watch;
  const { cameraHealth = false, eventGapS = null } = watch;
  return {
    paths: [...paths],
    ...request,
    settle_ms: settleMs,
    interval_ms: intervalMs,
    schedule,
    batch: { max_images: batch.maxImages, max_wait_s: batch.maxWaitS },
    existing,
    paused,
    camera_health: cameraHealth,
    event_gap_s: eventGapS,
  };
}

/** Numbers in its metadata keep their digits. */
function textOf({ watch, progress, counts }: WatchSnapshot): string {
  const { report, scannedAt } = progress;
  const { recorded, inJob, submitted, succeeded, failed } = counts;
  const status = statusWire.toWire({
    ...progress,
    files: {
      ...{ known: recorded, waiting: waitingFiles(progress), pending: inJob },
      ...{ submitted, succeeded, failed },
      skipped: report?.skipped ?? {},
    },
    lastScan:
      report === null || scannedAt === null
        ? null
        : {
            at: scannedAt,
            took_ms: Math.round(report.tookMs),
            files: report.counts.files,
            noticed: report.noticed,
          },
    lagS: progress.lag,
  });
  const { name, createdAt } = watch;
  const shown = { name, created_at: createdAt, ...writtenFields(watch), ...status };
  return withMember(shown, 'metadata', watch.settings.metadata ?? 'null');
}
