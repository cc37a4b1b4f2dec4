import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_RETRY_AFTER_S } from '../../src/base/retry-after.js';
import {
  DEFAULT_SCHEDULE,
  judge,
  type AttemptOutcome,
} from '../../src/webhooks/delivery-verdict.js';

const NOW = 1_700_000_000;
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const answered = (status: number, retryAfter: string | null = null): AttemptOutcome => ({
  kind: 'answered',
  status,
  retryAfter,
});

describe('judge', () => {
  test('2xx is success and nothing else is', () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 599 }), chance, (status, luck) => {
        const verdict = judge(answered(status), 0, DEFAULT_SCHEDULE, NOW, luck);
        expect(verdict.action === 'succeeded').toBe(status < 300);
      }),
    );
  });

  test('waits lie within 20 % of the schedule, and the last attempt is the seventh', () => {
    fc.assert(
      fc.property(fc.nat({ max: 10 }), chance, (attempt, luck) => {
        const verdict = judge(answered(500), attempt, DEFAULT_SCHEDULE, NOW, luck);
        const wait = DEFAULT_SCHEDULE[attempt + 1];
        if (wait === undefined) {
          expect(verdict.action).toBe('gave_up');
          return;
        }
        if (verdict.action !== 'retry') throw new Error(verdict.action);
        expect(verdict.at - NOW).toBeGreaterThanOrEqual(wait * 0.8 - 1e-6);
        expect(verdict.at - NOW).toBeLessThanOrEqual(wait * 1.2 + 1e-6);
      }),
    );
    expect(DEFAULT_SCHEDULE).toEqual([0, 5, 300, 1800, 7200, 18000, 36000]);
  });

  test('Retry-After only delays an attempt', () => {
    fc.assert(
      fc.property(fc.nat({ max: 200_000 }), chance, (seconds, luck) => {
        const asked = judge(answered(429, String(seconds)), 0, DEFAULT_SCHEDULE, NOW, luck);
        const plain = judge(answered(429), 0, DEFAULT_SCHEDULE, NOW, luck);
        if (asked.action !== 'retry' || plain.action !== 'retry') throw new Error('no retry');
        expect(asked.at).toBe(Math.max(plain.at, NOW + Math.min(seconds, MAX_RETRY_AFTER_S)));
      }),
    );
  });

  test('410 and a target that can never work end it at the first attempt', () => {
    expect(judge(answered(410), 0, DEFAULT_SCHEDULE, NOW, 0.5).action).toBe('gave_up');
    const refused: AttemptOutcome = { kind: 'unreachable', error: 'refused', permanent: true };
    expect(judge(refused, 0, DEFAULT_SCHEDULE, NOW, 0.5)).toEqual({
      action: 'gave_up',
      status: null,
      error: 'refused',
    });
  });
});
