/** `GET /v1/usage`: what an API key has of what keys share, and how much it may have. */
import { z } from '@hono/zod-openapi';
import { QUOTA_NAMES, QUOTAS } from '../../api/quotas.js';
import { replyJson } from '../answer/reply.js';
import type { KeyUse } from '../access/key-use.js';
import { json, type AddRoute } from '../route.js';
import type { RouteParts } from '../route-parts.js';

const quotaUseSchema = z
  .object({
    quota: z.enum(QUOTA_NAMES).openapi('QuotaName'),
    unit: z.string().openapi({ example: 'bytes' }),
    counts: z.string().openapi({ description: 'What counts, for people' }),
    used: z.number().openapi({ format: 'double' }),
    limit: z.number().nullable().openapi({
      format: 'double',
      description: 'By a mark of the key file; null: there is none',
    }),
    fair_share: z.number().nullable().openapi({
      format: 'double',
      description:
        'Of a key without a mark beside others: it has more only while enough is free. Null: it may have all',
    }),
    whole: z.number().nullable().openapi({
      format: 'double',
      description: 'What the service has for all keys; null: it has no bound',
    }),
  })
  .openapi('QuotaUse');

const keyUsageSchema = z
  .object({
    key: z.string().nullable().openapi({
      description: 'First digits of the SHA-256 of the key, as in the log; null without API keys',
      example: '3f1c0a5b9d2e7788',
    }),
    name: z.string().nullable().openapi({ example: 'North gate' }),
    is_own: z.boolean().openapi({ description: 'It is the key of this request' }),
    is_admin: z.boolean().openapi({ description: 'It may change models and aliases' }),
    quotas: z.array(quotaUseSchema),
  })
  .openapi('KeyUsage');

const usageSchema = z.object({ keys: z.array(keyUsageSchema) }).openapi('Usage', {
  example: {
    keys: [
      {
        key: '3f1c0a5b9d2e7788',
        name: 'North gate',
        is_own: true,
        is_admin: false,
        quotas: [
          {
            quota: 'store',
            unit: 'bytes',
            counts: 'jobs with their results, and views',
            used: 52_428_800,
            limit: null,
            fair_share: 536_870_912,
            whole: 1_073_741_824,
          },
        ],
      },
    ],
  },
});

export type UsageBody = z.infer<typeof usageSchema>;

export function usageRoutes(route: AddRoute, { keyUse }: RouteParts): void {
  route(
    {
      method: 'get',
      path: '/v1/usage',
      operationId: 'getUsage',
      summary: 'What the API key uses, and its limits',
      description:
        'What the key of the request has of the job store, uploads, unfinished jobs, watches and requests per second. A ' +
        'key with the mark `admin` gets all keys, its own first.',
      tags: ['System'],
      answers: { 200: json('Use by key', usageSchema) },
      errors: ['storage_unavailable'],
    },
    async (c) => {
      const own = c.get('keyId');
      const keys = await keyUse(c.get('isAdmin') ? undefined : [own]);
      const ownFirst = [...keys].sort((a, b) => Number(b.owner === own) - Number(a.owner === own));
      return replyJson(c, 200, { keys: ownFirst.map((each) => usageOf(each, own)) });
    },
  );
}

function usageOf(
  { owner, name, isAdmin, quotas }: KeyUse,
  own: string | null,
): UsageBody['keys'][number] {
  return {
    key: owner,
    name,
    is_own: owner === own,
    is_admin: isAdmin,
    quotas: quotas.map(({ quota, used, allowance, total }) => ({
      quota,
      unit: QUOTAS[quota].unit,
      counts: QUOTAS[quota].text,
      used,
      limit: allowance?.isExplicit === true ? allowance.limit : null,
      fair_share: allowance?.isExplicit === false ? allowance.limit : null,
      whole: total === 0 ? null : total,
    })),
  };
}
