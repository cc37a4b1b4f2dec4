/**
 * `GET /v1/settings`: the settings in force that concern callers. Folders, addresses and secrets are not among them.
 */
import { z } from '@hono/zod-openapi';
import { environmentName } from '../../settings/config.js';
import { settings, SHOWN_SETTINGS } from '../../settings/settings.js';
import type { AppDeps } from '../app-deps.js';
import { replyJson } from '../answer/reply.js';
import { json, type AddRoute } from '../route.js';

const settingSchema = z
  .object({
    name: z.string().openapi({ description: 'As an environment variable' }),
    value: z.string().openapi({ description: 'As the variable would say it' }),
    is_default: z.boolean(),
    description: z.string(),
  })
  .openapi('Setting');

const settingListSchema = z.object({ settings: z.array(settingSchema) }).openapi('SettingList', {
  example: {
    settings: [
      {
        name: 'LATTICE_SYNC_QUEUE',
        value: '256',
        is_default: true,
        description: 'maximum number of synchronous requests waiting for a worker',
      },
    ],
  },
});

export type SettingListBody = z.infer<typeof settingListSchema>;

export function settingRoutes(route: AddRoute, { config }: AppDeps): void {
  const body: SettingListBody = {
    settings: SHOWN_SETTINGS.map((key) => ({
      name: environmentName(key),
      value: String(config[key]),
      is_default: config[key] === settings[key].parse(undefined),
      description: settings[key].description ?? '',
    })),
  };
  route(
    {
      method: 'get',
      path: '/v1/settings',
      operationId: 'listSettings',
      summary: 'Settings in force',
      description: 'Limits and choices of this service, without folders, addresses and secrets.',
      tags: ['System'],
      answers: { 200: json('Settings', settingListSchema) },
    },
    (c) => replyJson(c, 200, body),
  );
}
