/**
 * `/v1/models/aliases`: names that stand for models, and how well a model on trial agrees with the one that answers.
 */
import { z } from '@hono/zod-openapi';
import { aliasCanarySchema, aliasContentSchema } from '../../api/schemas/model-alias.js';
import type { StoredAlias } from '../../store/alias-rows.js';
import { nameNotFound } from '../../store/named-versions.js';
import { CHANGES } from '../../boxes/changes.js';
import { LatticeError, type ErrorCode } from '../../api/errors.js';
import { toMicros } from '../../base/rounded.js';
import { detectionSchema, imageSizeSchema } from '../../api/schemas/image.js';
import type { ShadowAgreement } from '../../aliases/agreement-window.js';
import {
  agreementShape,
  leastAgreeingSchema,
  toWireAgreementFigures,
} from '../../answers/agreement-figures.js';
import { toWireComparedBox } from '../../answers/compared-box.js';
import type { HideFolders } from '../../answers/shown-problem.js';
import { replyJson, replyRaw } from '../answer/reply.js';
import type { AppContext } from '../app-env.js';
import { readJson } from '../request/json-body.js';
import { readQuery, wholeNumber } from '../request/query.js';
import { modelNameSchema } from '../request/request-fields.js';
import { validate, validationFailed } from '../request/validation.js';
import { json, type AddRoute, type RouteSpec } from '../route.js';
import type { RouteParts } from '../route-parts.js';
import { timestampSchema } from '../../answers/job-fields.js';

const LAST_VERSION = 999_999;

const { model, canary, shadow } = aliasContentSchema.shape;
const IS_THE_MODEL = 'It is the model of the alias itself: name another model, or none.';
const described = ({ description = '' }: { description?: string | undefined }) => ({ description });

const aliasPutSchema = z
  .strictObject({
    model: modelNameSchema.openapi(described(model)),
    canary: z
      .strictObject({ model: modelNameSchema, share: aliasCanarySchema.shape.share })
      .openapi('AliasCanaryPut')
      .nullish()
      .openapi(described(canary)),
    shadow: modelNameSchema.nullish().openapi(described(shadow)),
  })
  .refine((alias) => alias.canary?.model !== alias.model, {
    error: IS_THE_MODEL,
    path: ['canary', 'model'],
  })
  .refine((alias) => alias.shadow !== alias.model, { error: IS_THE_MODEL, path: ['shadow'] })
  .openapi('AliasPut', { example: { model: 'depot.pt', shadow: 'depot-v2.pt' } });

const aliasSchema = z
  .object({
    name: z.string().openapi({ example: 'production.pt' }),
    version: z.int().openapi({ description: 'From 1; each change raises it', example: 3 }),
    stored_at: timestampSchema,
    before: z.int().nullable().openapi({
      description: 'The version that a rollback goes back to; null: there is none',
    }),
    ...aliasContentSchema.shape,
  })
  .openapi('Alias');

const aliasListSchema = z.object({ aliases: z.array(aliasSchema) }).openapi('AliasList');

const count = (description: string) => z.int().openapi({ description });
const comparedBoxSchema = z
  .object({
    change: z.enum(CHANGES),
    before: detectionSchema.optional().openapi({ description: 'Of the model; absent if gained' }),
    after: detectionSchema.optional().openapi({ description: 'Of the shadow; absent if lost' }),
  })
  .openapi('ComparedBox');
const agreementSchema = z
  .object({
    alias: z.string(),
    version: z.int(),
    model: z.string(),
    shadow: z.string(),
    images: count(
      'The latest pictures that both have looked at with their present files, at most 1,000, since the start',
    ),
    latest_share: z.number().nullable().openapi({
      description:
        'Of the boxes of the latest 50 pictures, as `share`; null while these have fewer than 20 boxes, which are too few to judge',
    }),
    flagged: z.boolean().openapi({ description: '`latest_share` is below 0.9' }),
    ...agreementShape,
    least: z
      .array(
        leastAgreeingSchema
          .extend({ image: imageSizeSchema, boxes: z.array(comparedBoxSchema) })
          .openapi('LeastAgreeingPicture'),
      )
      .openapi({ description: 'Your pictures that agree least, at most ten' }),
    model_ms: z.number().openapi({ description: 'Mean time of the network' }),
    shadow_ms: z.number(),
    dropped: count('Pictures that the shadow did not look at, since the service was busy'),
    failed: count('Pictures on which the shadow failed'),
    last_error: z.string().nullable().openapi({ description: 'Why it failed last' }),
  })
  .openapi('Agreement');

export type AliasPutBody = z.infer<typeof aliasPutSchema>;
export type AliasBody = z.infer<typeof aliasSchema>;
export type AliasListBody = z.infer<typeof aliasListSchema>;
export type AgreementBody = z.infer<typeof agreementSchema>;

const versionQuerySchema = z.strictObject({
  version: wholeNumber('A version', 1, LAST_VERSION).optional().openapi({
    description: 'Of the last 100, also after the alias was deleted. Default: the newest',
  }),
});

const params = z.object({ name: modelNameSchema.openapi({ example: 'production.pt' }) });
const ofAlias = { tags: ['Models'], request: { params } };
const missing = ['alias_not_found'] as const satisfies ErrorCode[];
/** Errors of a change that loads models. */
const notChanged = [
  'unknown_model',
  'invalid_model',
  'model_not_ready',
  'alias_changed',
  'storage_unavailable',
] as const satisfies ErrorCode[];

const LIST: RouteSpec = {
  method: 'get',
  path: '/v1/models/aliases',
  operationId: 'listAliases',
  summary: 'Aliases of models',
  description: 'Names that were given to models, by name. They may stand wherever model_name does.',
  tags: ['Models'],
  answers: { 200: json('All aliases', aliasListSchema) },
};

const GET: RouteSpec = {
  method: 'get',
  path: '/v1/models/aliases/{name}',
  operationId: 'getAlias',
  summary: 'An alias',
  description: 'What it stands for, or stood for in an earlier version.',
  tags: ['Models'],
  request: { params, query: versionQuerySchema },
  answers: { 200: json('The alias', aliasSchema) },
  errors: [...missing, 'storage_unavailable'],
};

const PUT: RouteSpec = {
  method: 'put',
  path: '/v1/models/aliases/{name}',
  operationId: 'putAlias',
  forAdmin: true,
  summary: 'Let a name stand for a model',
  description:
    'Makes the alias or replaces it whole. It loads the models that it names, and answers once it is on disk: requests ' +
    'that begin from then on use it, and jobs that have begun stay on their model. The name may be that of a model, ' +
    'which requests then reach no more; the default one, for example, so that requests that name none change too. It is ' +
    'refused with `alias_changed` where the alias was changed while the models were loaded, as are `promote` and `rollback`.',
  tags: ['Models'],
  request: {
    params,
    body: { required: true, content: { 'application/json': { schema: aliasPutSchema } } },
  },
  answers: { 200: json('The alias', aliasSchema), 201: json('The new alias', aliasSchema) },
  errors: [...notChanged],
};

const PROMOTE: RouteSpec = {
  method: 'post',
  path: '/v1/models/aliases/{name}/promote',
  operationId: 'promoteAlias',
  forAdmin: true,
  summary: 'Let the model on trial answer',
  description: 'The canary, without one the shadow, becomes the model of the alias.',
  ...ofAlias,
  answers: { 200: json('The alias', aliasSchema) },
  errors: [...missing, 'no_other_model', ...notChanged],
};

const ROLL_BACK: RouteSpec = {
  method: 'post',
  path: '/v1/models/aliases/{name}/rollback',
  operationId: 'rollBackAlias',
  forAdmin: true,
  summary: 'Take the last change back',
  description:
    'The alias stands for what it stood for before its last change, as a new version; called again, for what it stood for ' +
    'before that.',
  ...ofAlias,
  answers: { 200: json('The alias', aliasSchema) },
  errors: [...missing, 'no_other_model', ...notChanged],
};

const AGREEMENT: RouteSpec = {
  method: 'get',
  path: '/v1/models/aliases/{name}/agreement',
  operationId: 'getAgreement',
  summary: 'How well the shadow agrees',
  description:
    'The boxes of the model and of its shadow on the same pictures. The service keeps the latest ones in memory: a new ' +
    'model, a new shadow, a new file of either and a restart begin it anew.',
  ...ofAlias,
  answers: { 200: json('The agreement', agreementSchema) },
  errors: [...missing, 'no_other_model'],
};

const DELETE: RouteSpec = {
  method: 'delete',
  path: '/v1/models/aliases/{name}',
  operationId: 'deleteAlias',
  forAdmin: true,
  summary: 'Delete an alias',
  description:
    'A model file of that name can be named again. Jobs that have begun stay on their model; those that wait or come later and ' +
    'name the alias fail with `unknown_model`.',
  ...ofAlias,
  answers: { 204: { description: 'It is deleted' } },
  errors: [...missing, 'storage_unavailable'],
};

export function aliasRoutes(
  route: AddRoute,
  { aliases, shadows, catalogue, config, hide }: RouteParts,
): void {
  const changed = (c: AppContext, alias: StoredAlias, status = 200) => {
    catalogue.forget();
    return replyJson(c, status, aliasOf(alias));
  };
  route(LIST, (c) => replyJson(c, 200, { aliases: aliases.list().map(aliasOf) }));
  route(GET, async (c) => {
    const { version } = readQuery(versionQuerySchema, c.req.queries());
    return replyJson(c, 200, aliasOf(await aliases.get(knownName(c), version)));
  });
  route(PUT, async (c) => {
    const { data: name, error } = modelNameSchema.safeParse(c.req.param('name'));
    if (name === undefined) {
      throw validationFailed(error.issues.map(({ message: detail }) => ({ detail })));
    }
    const body = validate(aliasPutSchema, await readJson(c, config.maxBodyBytes));
    const content = {
      model: body.model,
      canary: body.canary ?? null,
      shadow: body.shadow ?? null,
    };
    const { stored, created } = await aliases.put(name, content);
    return changed(c, stored, created ? 201 : 200);
  });
  route(PROMOTE, async (c) => changed(c, await aliases.promote(knownName(c))));
  route(ROLL_BACK, async (c) => changed(c, await aliases.rollBack(knownName(c))));
  route(AGREEMENT, async (c) => {
    const alias = await aliases.get(knownName(c));
    if (alias.shadow === null) {
      throw new LatticeError('no_other_model', `The alias '${alias.name}' has no shadow.`);
    }
    const agreement = shadows.agreement(alias, c.get('keyId'));
    return replyJson(c, 200, toWireAgreement(alias, alias.shadow, agreement, hide));
  });
  route(DELETE, async (c) => {
    await aliases.remove(knownName(c));
    catalogue.forget();
    return replyRaw(c, 204, null, {});
  });
}

/** Names that no alias can have are not looked up. */
function knownName(c: AppContext): string {
  const name = c.req.param('name') ?? '';
  const { data } = modelNameSchema.safeParse(name);
  if (data === undefined) throw nameNotFound('alias', name);
  return data;
}

function aliasOf(alias: StoredAlias): AliasBody {
  const { name, version, storedAt, before, model, canary, shadow } = alias;
  return { name, version, before, model, canary, shadow, stored_at: storedAt };
}

function toWireAgreement(
  { name, version, model }: StoredAlias,
  shadow: string,
  { pictures, latestShare, flagged, least, ...rest }: ShadowAgreement,
  hide: HideFolders,
): AgreementBody {
  return {
    alias: name,
    version,
    model,
    shadow,
    images: pictures,
    latest_share: latestShare,
    flagged,
    ...toWireAgreementFigures(rest),
    least: least.map(({ picture: { path, size, boxes }, ...each }) => ({
      ...each,
      image_path: hide(path),
      image: size,
      boxes: boxes.map(toWireComparedBox),
    })),
    model_ms: toMicros(rest.modelMs),
    shadow_ms: toMicros(rest.shadowMs),
    dropped: rest.dropped,
    failed: rest.failed,
    last_error: rest.lastError === null ? null : hide(rest.lastError.message),
  };
}
