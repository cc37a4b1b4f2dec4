/** `/v1/views`: regions that are stored by name. Each API key has its own. */
import { z } from '@hono/zod-openapi';
import { regionsSchema, viewNameSchema } from '../../api/schemas/option-schemas.js';
import type { ErrorCode } from '../../api/errors.js';
import type { Region } from '../../api/region-rules.js';
import { nameNotFound } from '../../store/named-versions.js';
import type { StoredView } from '../../store/view-rows.js';
import { replyJson, replyRaw } from '../answer/reply.js';
import type { AppContext } from '../app-env.js';
import { readJson } from '../request/json-body.js';
import { readQuery, wholeNumber } from '../request/query.js';
import { pathTextSchema, refuseLongLists } from '../request/request-fields.js';
import { validate, validationFailed } from '../request/validation.js';
import { json, type AddRoute } from '../route.js';
import type { RouteParts } from '../route-parts.js';
import { timestampSchema } from '../../answers/job-fields.js';

const MOST_PATHS = 20;
const LAST_VERSION = 999_999;

const pathRuleSchema = pathTextSchema
  .min(1)
  .refine((text) => !text.startsWith('/'), { error: 'It is relative to an image folder.' });

const contentShape = {
  regions: regionsSchema.min(1),
  paths: z
    .array(pathRuleSchema)
    .max(MOST_PATHS)
    .openapi({
      description:
        'Images whose paths match use this view where a request names neither regions nor a view. Relative to the image ' +
        'folder; `*` and `?` stand for characters of a name, `**` for any folders. The longest of several patterns counts',
      example: ['cameras/north/**'],
    }),
};

const viewPutSchema = z
  .strictObject({ ...contentShape, paths: contentShape.paths.nullish() })
  .openapi('ViewPut', {
    example: {
      regions: [{ name: 'gate', polygon: [[0.1, 0.5], [0.6, 0.5], [0.6, 1], [0.1, 1]] }], // prettier-ignore
      paths: ['cameras/north/**'],
    },
  });

const viewSchema = z
  .object({
    name: z.string().openapi({ example: 'north' }),
    version: z.int().openapi({
      description: 'From 1; each PUT that changes the view raises it. Results name it',
      example: 1,
    }),
    stored_at: timestampSchema,
    ...contentShape,
  })
  .openapi('View');

const viewListSchema = z.object({ views: z.array(viewSchema) }).openapi('ViewList');

export type ViewPutBody = z.infer<typeof viewPutSchema>;
export type ViewBody = z.infer<typeof viewSchema>;
export type ViewListBody = z.infer<typeof viewListSchema>;

const versionQuerySchema = z.strictObject({
  version: wholeNumber('A version', 1, LAST_VERSION).optional().openapi({
    description: 'Of the last 100, also after the view was deleted. Default: the newest',
  }),
});

const params = z.object({ name: viewNameSchema.meta({ example: 'north' }) });
const ofView = { tags: ['Views'], request: { params } };
const errors = ['view_not_found', 'storage_unavailable'] as const satisfies ErrorCode[];

export function viewRoutes(route: AddRoute, { views, config }: RouteParts): void {
  route(
    {
      method: 'get',
      path: '/v1/views',
      operationId: 'listViews',
      summary: 'Stored views',
      description: 'The views of the API key, by name, each with its regions.',
      tags: ['Views'],
      answers: { 200: json('All views', viewListSchema) },
    },
    (c) => replyJson(c, 200, { views: views.list(c.get('keyId')).map(toWire) }),
  );
  route(
    {
      method: 'get',
      path: '/v1/views/{name}',
      operationId: 'getView',
      summary: 'A view',
      description: 'Its regions as they are, or as they were in an earlier version.',
      tags: ['Views'],
      request: { params, query: versionQuerySchema },
      answers: { 200: json('The view', viewSchema) },
      errors,
    },
    async (c) => {
      const { version } = readQuery(versionQuerySchema, c.req.queries());
      return replyJson(c, 200, toWire(await views.get(knownName(c), c.get('keyId'), version)));
    },
  );
  route(
    {
      method: 'put',
      path: '/v1/views/{name}',
      operationId: 'putView',
      summary: 'Store a view',
      description:
        'Makes the view or replaces it whole, and answers once it is on disk. Images that begin from then on use it, also ' +
        'those of running jobs; results keep what they used. The same content again changes nothing. It is refused with ' +
        '`view_changed` where another call has changed the view since this one began.',
      tags: ['Views'],
      request: {
        params,
        body: { required: true, content: { 'application/json': { schema: viewPutSchema } } },
      },
      answers: { 200: json('The view', viewSchema), 201: json('The new view', viewSchema) },
      errors: ['view_changed', 'storage_unavailable'],
    },
    async (c) => {
      const name = c.req.param('name') ?? '';
      const { error } = viewNameSchema.safeParse(name);
      if (error !== undefined) {
        throw validationFailed(error.issues.map(({ message: detail }) => ({ detail })));
      }
      const body = await readJson(c, config.maxBodyBytes);
      refuseLongLists(body, config);
      const { regions, paths } = validate(viewPutSchema, body);
      const content = { regions: regions.map(givenFields), paths: paths ?? [] };
      const { stored, created } = await views.put(name, content, c.get('keyId'));
      return replyJson(c, created ? 201 : 200, toWire(stored));
    },
  );
  route(
    {
      method: 'delete',
      path: '/v1/views/{name}',
      operationId: 'deleteView',
      summary: 'Delete a view',
      description:
        'Results that used it stay as they are. An image that names it from then on fails with `unknown_view`.',
      ...ofView,
      answers: { 204: { description: 'It is deleted' } },
      errors,
    },
    async (c) => {
      await views.remove(knownName(c), c.get('keyId'));
      return replyRaw(c, 204, null, {});
    },
  );
}

/** Names that no view can have are not looked up. */
function knownName(c: AppContext): string {
  const name = c.req.param('name') ?? '';
  if (!viewNameSchema.safeParse(name).success) throw nameNotFound('view', name);
  return name;
}

/** A field that is null is not given: the same content is stored as the same text. */
function givenFields(region: Region): Region {
  return Object.fromEntries(Object.entries(region).filter(([, value]) => value !== null)) as Region;
}

function toWire({ name, version, storedAt, regions, paths }: StoredView): ViewBody {
  return { name, version, stored_at: storedAt, regions: [...regions], paths: [...paths] };
}
