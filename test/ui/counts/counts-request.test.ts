import { expect, test } from 'vitest';
import { readChoice } from '../../../src/ui/counts/counts-choice.js';
import { callCommand, countsPath, placesPath } from '../../../src/ui/counts/counts-request.js';
import { hourOf } from '../../../src/ui/counts/wall-hours.js';

const pathOf = (query: Record<string, string>, format?: 'csv') => {
  const choice = readChoice({ range: 'own', ...query }, hourOf('2025-11-26T14')!);
  return countsPath(choice, choice.hours, format);
};

test.each([
  [{ watch: 'north' }, '/v1/counts?watch=north&by=hour'],
  [{ tag: 'a b', by: 'folder' }, '/v1/counts?tag=a+b&by=folder'],
  [
    { watch: 'north', tag: 'day', from: '2025-11-26', to: '2025-11-27T06' },
    '/v1/counts?watch=north&tag=day&from=2025-11-26T00&to=2025-11-27T06&by=hour',
  ],
  [
    { watch: 'north', view: 'gate-2', min: '40', by: 'region' },
    '/v1/counts?watch=north&by=day&view=gate-2&confidence_threshold=0.4',
  ],
  [
    { watch: 'north', by: 'event', gap: '300', camera: 'none' },
    '/v1/counts?watch=north&by=event&event_gap_s=300&camera=folder',
  ],
  [{ watch: 'north', by: 'day', gap: '300', camera: 'all' }, '/v1/counts?watch=north&by=day'],
  [{ watch: 'north', by: 'place', camera: 'all' }, '/v1/counts?watch=north&by=day'],
  [
    { watch: 'north', by: 'event', gap: '300', camera: 'name', pattern: 'cam{camera}-*.jpg' },
    '/v1/counts?watch=north&by=event&event_gap_s=300&camera=name&camera_pattern=cam%7Bcamera%7D-*.jpg',
  ],
  [
    { watch: 'north', static: 'only', camera: 'name' },
    '/v1/counts?watch=north&by=hour&static=only&camera=name&camera_pattern=%7Bcamera%7D_*',
  ],
  [
    { watch: 'north', by: 'day', static: 'exclude', camera: 'all' },
    '/v1/counts?watch=north&by=day&static=exclude&camera=all',
  ],
])('%j is asked by %s', (query: Record<string, string>, path) => {
  expect(pathOf(query)).toBe(path);
  expect(pathOf(query, 'csv')).toBe(`${path}&format=csv`);
});

test('the command is one word for a shell, whatever the tag, and has no key in it', () => {
  const command = callCommand(pathOf({ tag: "it's $HOME" }), 'http://localhost:8000', true);
  expect(command).toBe(
    `curl -s -H "authorization: Bearer $LATTICE_API_KEY" 'http://localhost:8000/v1/counts?tag=it%27s+%24HOME&by=hour'`,
  );
});

test('the places of a choice, and their file', () => {
  const choice = readChoice(
    { range: 'own', by: 'place', watch: 'north', camera: 'all', min: '40', static: 'only' },
    hourOf('2025-11-26T14')!,
  );
  const path = '/v1/places?watch=north&camera=all&confidence_threshold=0.4';
  expect(placesPath(choice)).toBe(path);
  expect(placesPath(choice, 'csv')).toBe(`${path}&format=csv`);
});
