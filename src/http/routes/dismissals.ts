/** `/v1/places/dismissals`: places whose boxes are left out of counts. Each API key has its own. */
import { z } from '@hono/zod-openapi';
import { LatticeError } from '../../api/errors.js';
import { detectionSchema, imageSizeSchema } from '../../api/schemas/image.js';
import type { Dismissal } from '../../store/cameras/dismissed-places.js';
import { jobIdSchema, timestampSchema } from '../../answers/job-fields.js';
import type { HideFolders } from '../../answers/shown-problem.js';
import { replyJson, replyRaw } from '../answer/reply.js';
import type { AppContext } from '../app-env.js';
import { readJson } from '../request/json-body.js';
import { validate, validationFailed } from '../request/validation.js';
import { json, type AddRoute } from '../route.js';
import type { RouteParts } from '../route-parts.js';
import { cameraPatternSchema } from './jobs/camera-pattern-schema.js';

const newDismissalSchema = z
  .strictObject({
    job_id: jobIdSchema,
    index: z.int().min(0).openapi({ description: 'The place of the image in the job, from 0' }),
    class: detectionSchema.shape.class.min(1).max(200),
    box: detectionSchema.shape.box.refine(([x1, y1, x2, y2]) => x1 < x2 && y1 < y2, {
      error: 'A box is x1, y1, x2, y2 with x1 < x2 and y1 < y2.',
    }),
    camera_pattern: cameraPatternSchema.nullish().openapi({
      description:
        'That of the question by which the place was found, with `camera=name`: the dismissal holds for that camera. Without it, for all images of the folder',
    }),
  })
  .openapi('NewDismissal', {
    example: {
      job_id: 'job_AaH_VN9DaomsEEzKZw_XwcGU',
      index: 12,
      class: 'car',
      box: [48.2, 120.5, 310.9, 287.1],
    },
  });

const dismissalSchema = z
  .object({
    id: z.int(),
    camera: z.string().openapi({
      description:
        'The folder of the images that it holds for; with `camera_pattern` also the part of their names that says the camera',
    }),
    camera_pattern: z.string().nullable(),
    class_group: z.string().openapi({
      description:
        'Classes that are taken for one another: `vehicle` is car, truck, bus and van, `cycle` motorcycle and bicycle; another class is by itself',
      example: 'vehicle',
    }),
    box: detectionSchema.shape.box,
    image: imageSizeSchema,
    dismissed_at: timestampSchema,
  })
  .openapi('Dismissal');

const dismissalListSchema = z
  .object({ dismissals: z.array(dismissalSchema).openapi({ description: 'Oldest first' }) })
  .openapi('DismissalList');

export type NewDismissalBody = z.infer<typeof newDismissalSchema>;
export type DismissalBody = z.infer<typeof dismissalSchema>;
export type DismissalListBody = z.infer<typeof dismissalListSchema>;

const params = z.object({ id: z.int().openapi({ example: 1 }) });

export function dismissalRoutes(route: AddRoute, { jobs, hide, config }: RouteParts): void {
  route(
    {
      method: 'get',
      path: '/v1/places/dismissals',
      operationId: 'listDismissals',
      summary: 'Dismissed places',
      description: 'Those of the API key, oldest first.',
      tags: ['Jobs'],
      answers: { 200: json('All dismissals', dismissalListSchema) },
      errors: ['storage_unavailable'],
    },
    async (c) => {
      const dismissals = await jobs.dismissals.list(c.get('keyId'));
      return replyJson(c, 200, { dismissals: dismissals.map((each) => toWire(each, hide)) });
    },
  );
  route(
    {
      method: 'post',
      path: '/v1/places/dismissals',
      operationId: 'dismissPlace',
      summary: 'Dismiss a place',
      description:
        'Takes a box of an image, as a place of `GET /v1/places` names it. From then on boxes of its class group that lie over ' +
        'it, with an intersection over union of 0.4 or more, in images of the same folder and form, with `camera_pattern` of the same camera, are left out of ' +
        '`GET /v1/counts` and `GET /v1/jobs/{job_id}/counts`, but for `by=image` and the counts of removed results; results ' +
        'stay as they are, unless they are asked for with `static`. A box over a dismissed place gives that one. At most 1000 per API key.',
      tags: ['Jobs'],
      request: {
        body: { required: true, content: { 'application/json': { schema: newDismissalSchema } } },
      },
      answers: {
        200: json('It was dismissed before', dismissalSchema),
        201: json('It is dismissed', dismissalSchema),
      },
      errors: ['job_not_found', 'storage_unavailable'],
    },
    async (c) => {
      const body = validate(newDismissalSchema, await readJson(c, config.maxBodyBytes));
      const keyId = c.get('keyId');
      const job = await jobs.get(body.job_id, keyId);
      const [entry] = body.index < job.imageCount ? await jobs.imagesAt(job, [body.index]) : [];
      if (entry?.outcome?.status !== 'ok') {
        throw validationFailed([{ detail: 'This image has no result.', pointer: '#/index' }]);
      }
      const { camera_pattern: pattern = null } = body;
      const picture = { path: entry.path, image: entry.outcome.image };
      const { stored, created } = await jobs.dismissals.add(picture, body, pattern, keyId);
      return replyJson(c, created ? 201 : 200, toWire(stored, hide));
    },
  );
  route(
    {
      method: 'delete',
      path: '/v1/places/dismissals/{id}',
      operationId: 'deleteDismissal',
      summary: 'Take a dismissal back',
      description: 'Boxes in the place are counted again.',
      tags: ['Jobs'],
      request: { params },
      answers: { 204: { description: 'It is taken back' } },
      errors: ['dismissal_not_found', 'storage_unavailable'],
    },
    async (c) => {
      await jobs.dismissals.remove(dismissalId(c), c.get('keyId'));
      return replyRaw(c, 204, null, {});
    },
  );
}

function dismissalId(c: AppContext): number {
  const text = c.req.param('id') ?? '';
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new LatticeError('dismissal_not_found', 'No dismissal has this id.');
}

function toWire(dismissal: Dismissal, hide: HideFolders): DismissalBody {
  const { id, folder, named, group, box, width, height, dismissedAt } = dismissal;
  return {
    id,
    camera: hide(named?.camera ?? folder),
    camera_pattern: named?.pattern ?? null,
    class_group: group,
    box: [...box],
    image: { width, height },
    dismissed_at: dismissedAt,
  };
}
