/** A chaos run, and that its checker sees what it looks for. */
import { expect, test } from 'vitest';
import { violationsOf, type History } from '../../bench/chaos/history.js';
import { runChaos } from '../../bench/chaos/run-chaos.js';

const SECONDS = 60;

test(`${SECONDS} s of faults break no promise`, async () => {
  const { violations, ...report } = await runChaos({ seconds: SECONDS, seed: 7 });
  console.log(JSON.stringify(report));
  expect(violations).toEqual([]);
  expect(report.acknowledged).toBeGreaterThanOrEqual(6);
});

const event = (seq: number, name: string, job_id = 'a') => ({ seq, event: name, job_id });

function history(changes: Partial<History> = {}): History {
  const events = [event(1, 'job_submitted'), event(2, 'job_started'), event(3, 'job_completed')];
  return {
    operations: [{ paths: ['x.png'], receiver: 'good', jobId: 'a', cancelled: false }],
    followed: events,
    replayed: events,
    webhooks: new Set(['a']),
    ends: new Map([['a', { status: 'completed', images: ['x.png []'] }]]),
    reference: new Map([['x.png', 'x.png []']]),
    unexpected: [],
    ...changes,
  };
}

test.each<[string, Partial<History>, string | null]>([
  ['nothing', {}, null],
  ['a lost job', { ends: new Map() }, 'job a is lost'],
  ['a lost webhook', { webhooks: new Set<string>() }, 'job a has no webhook at good'],
  ['other boxes', { reference: new Map([['x.png', 'x.png [1]']]) }, 'image 0 of a is x.png []'],
  ['a gap', { followed: [event(1, 'job_submitted'), event(3, 'job_completed')] }, '3 follows 1'],
  [
    'a second end',
    { replayed: [1, 2].map((seq) => event(seq, 'job_completed')) },
    'job_completed of a after its end',
  ],
])('the checker finds %s', (_what, changes, violation) => {
  const found = violationsOf(history(changes));
  if (violation === null) expect(found).toEqual([]);
  else expect(found.join('\n')).toContain(violation);
});
