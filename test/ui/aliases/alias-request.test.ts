import { expect, test } from 'vitest';
import type { Alias, Model } from '../../../src/client/records.js';
import {
  aliasModels,
  aliasPut,
  aliasText,
  percentOf,
} from '../../../src/ui/aliases/alias-request.js';

const model = (name: string, more: Partial<Model> = {}): Model =>
  ({ name, state: 'available', alias_of: null, ...more }) as Model;

const depot: Alias = {
  ...{ name: 'depot.pt', version: 3, stored_at: 0, before: 2 },
  ...{ model: 'first.pt', canary: { model: 'gone.pt', share: 0.125 }, shadow: 'other.pt' },
};

test('an alias stands for models: no alias, none that is refused, and its own whatever became of them', () => {
  const listed = [
    model('yolov8n.pt', { alias_of: 'vehicles-v8n.pt' }),
    model('depot.pt', { alias_of: 'first.pt' }),
    model('first.pt'),
    model('broken.pt', { state: 'refused' }),
  ];
  // The name of the bundled detector is no alias of an operator.
  expect(aliasModels(listed, [depot])).toEqual(['first.pt', 'yolov8n.pt']);
  expect(aliasModels(listed, [depot], depot)).toEqual([
    'first.pt',
    'gone.pt',
    'other.pt',
    'yolov8n.pt',
  ]);
});

test('fields that are empty are no canary and no shadow; the share is in percent', () => {
  const form = (fields: Record<string, string>) => (name: string) => fields[name] ?? '';
  expect(aliasPut(form({ model: 'a.pt', share: '10' }))).toEqual({
    ...{ model: 'a.pt', canary: null, shadow: null },
  });
  expect(aliasPut(form({ model: 'a.pt', canary: 'b.pt', share: '12.5', shadow: 'c.pt' }))).toEqual({
    ...{ model: 'a.pt', canary: { model: 'b.pt', share: 0.125 }, shadow: 'c.pt' },
  });
});

test('a share is shown as it was given', () => {
  expect([0.07, 0.29, 0.125, 1, 0.0001].map(percentOf)).toEqual([7, 29, 12.5, 100, 0.01]);
});

test('what an alias does is one sentence', () => {
  expect(aliasText(depot)).toBe(
    'first.pt answers; gone.pt answers 12.5 % of the requests in its place; other.pt is its shadow',
  );
  expect(aliasText({ model: 'a.pt', canary: null, shadow: null })).toBe('a.pt answers');
});
