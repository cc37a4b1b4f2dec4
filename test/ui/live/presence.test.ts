import { expect, test } from 'vitest';
import { presenceOf } from '../../../src/ui/live/presence.js';

const waiting = { kind: 'waiting', seconds: 1 } as const;
const news = { silentFor: 1, isUnreachable: false };

test('events that come are enough', () => {
  expect(presenceOf({ kind: 'live' }, { silentFor: 60, isUnreachable: true })).toEqual({ kind: 'live' }); // prettier-ignore
});

test('a busy service whose events broke off is not away while its answers come, however late', () => {
  expect(presenceOf(waiting, { ...news, silentFor: 19 })).toEqual({ kind: 'connecting' });
  expect(presenceOf(waiting, { ...news, silentFor: 21 })).toEqual({ kind: 'away', silentFor: 21 });
});

test('what takes no connection is away at once', () => {
  expect(presenceOf({ kind: 'connecting' }, { ...news, isUnreachable: true })).toEqual({ kind: 'away', silentFor: 1 }); // prettier-ignore
});

test('before any news nothing is known but that it takes no connection', () => {
  const none = { silentFor: null, isUnreachable: false };
  expect(presenceOf({ kind: 'connecting' }, none)).toEqual({ kind: 'connecting' });
  expect(presenceOf(waiting, { ...none, isUnreachable: true })).toEqual({ kind: 'away', silentFor: null }); // prettier-ignore
});

test('a feed that stopped says why', () => {
  const stopped = { kind: 'stopped', reason: 'an API key is needed.' } as const;
  expect(presenceOf(stopped, news)).toEqual(stopped);
});
