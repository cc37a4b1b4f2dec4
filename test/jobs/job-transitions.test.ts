import { describe, expect, test } from 'vitest';
import { JOB_STATUSES, type JobStatus } from '../../src/jobs/job.js';
import {
  assertMove,
  canMove,
  isTerminal,
  sourcesOf,
} from '../../src/jobs/store/job-transitions.js';

const LEGAL = [
  'pending running',
  'pending failed',
  'running completed',
  'running failed',
  'running pending',
];
const pairs = JOB_STATUSES.flatMap((from) => JOB_STATUSES.map((to) => [from, to] as const));

describe('the transition table', () => {
  test.each(pairs)('%s -> %s', (from, to) => {
    const legal = LEGAL.includes(`${from} ${to}`);
    expect(canMove(from, to)).toBe(legal);
    expect(sourcesOf(to).includes(from)).toBe(legal);
    const move = () => {
      assertMove(from, to);
    };
    if (legal) expect(move).not.toThrow();
    else expect(move).toThrow(`from ${from} to ${to}`);
  });

  test('ends at completed and failed', () => {
    const terminal: JobStatus[] = JOB_STATUSES.filter(isTerminal);
    expect(terminal).toEqual(['completed', 'failed']);
  });
});
