import { expect, test } from 'vitest';
import { ApiKeys } from '../../../src/http/access/api-keys.js';
import type { SettingListBody } from '../../../src/http/routes/settings.js';
import { compose, get } from '../../support/composed-app.js';

test('limits are told with what was changed; folders, addresses and secrets are not', async () => {
  const secret = 'whsec_c2VjcmV0LW9mLXRoZS13ZWJob29r';
  const app = compose({ syncQueue: 7, webhookSecret: secret, webhookAllow: ['10.1.2.3'] });
  const { status, body } = await get(app, '/v1/settings');
  expect(status).toBe(200);
  const { settings } = body as SettingListBody;
  const of = (name: string) => settings.find((setting) => setting.name === name);
  expect(of('LATTICE_SYNC_QUEUE')).toMatchObject({ value: '7', is_default: false });
  expect(of('LATTICE_SYNC_DEADLINE_MS')).toMatchObject({ value: '10000', is_default: true });
  expect(of('LATTICE_SYNC_QUEUE')?.description).toContain('synchronous requests');
  const text = JSON.stringify(body);
  for (const hidden of [
    '/srv',
    '/tmp',
    secret,
    '10.1.2.3',
    'DIR',
    'ROOTS',
    'HOST',
    'SECRET',
    'KEY',
  ]) {
    expect(text, hidden).not.toContain(hidden);
  }
});

test('they need a key where the service has keys', async () => {
  const app = compose({}, { apiKeys: ApiKeys.parse('lat_alice_0123456789abcdef') });
  expect(await get(app, '/v1/settings')).toMatchObject({ status: 401 });
});
