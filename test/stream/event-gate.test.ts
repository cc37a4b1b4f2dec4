import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Job, JobEvent } from '../../src/store/job.js';
import { EventGate } from '../../src/stream/event-gate.js';

const event = (seq: number, name: JobEvent['event'] = 'job_completed'): JobEvent => ({
  event: name,
  jobId: `job-${seq}`,
  status: 'completed',
  timestamp: 0,
  seq,
  progress: 1,
  failedImages: 0,
  reusedImages: 0,
  keyId: null,
});
const frame = (seq: number): Buffer => Buffer.from(String(seq));
const job = (jobId: string): Job => ({ jobId }) as Job;

function gateInto(sent: number[]): EventGate {
  return new EventGate((bytes) => sent.push(Number(bytes.toString())));
}

test('property: whatever is held and released, every event goes out once and in order', () => {
  const step = fc.oneof(
    fc.constant({ kind: 'event' as const }),
    fc.constant({ kind: 'hold' as const }),
    fc.nat(5).map((which) => ({ kind: 'release' as const, which })),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const sent: number[] = [];
      const gate = gateInto(sent);
      const tickets: number[] = [];
      let seq = 0;
      for (const move of steps) {
        if (move.kind === 'event') gate.pass(event(++seq), frame(seq));
        else if (move.kind === 'hold') tickets.push(gate.hold());
        else {
          const [ticket] = tickets.splice(move.which % Math.max(tickets.length, 1), 1);
          if (ticket !== undefined) gate.release(ticket);
        }
        expect(sent).toEqual([...Array(sent.length).keys()].map((n) => n + 1));
      }
      for (const ticket of tickets) gate.release(ticket);
      expect(sent).toHaveLength(seq);
      expect(gate.heldCount).toBe(0);
    }),
  );
});

test('a later hold does not delay events that came before it', () => {
  const sent: number[] = [];
  const gate = gateInto(sent);
  const first = gate.hold();
  gate.pass(event(1), frame(1));
  gate.hold();
  gate.pass(event(2), frame(2));
  gate.release(first);
  expect(sent).toEqual([1]);
});

test('a claimed submission is not sent again, held or yet to come', () => {
  const sent: number[] = [];
  const gate = gateInto(sent);
  const ticket = gate.hold();
  gate.pass(event(1, 'job_submitted'), frame(1));
  expect(gate.claim(job('job-1'), true)).toMatchObject({ seq: 1 });
  expect(gate.claim(job('job-2'), true)).toBeNull();
  gate.release(ticket);
  gate.pass(event(2, 'job_submitted'), frame(2));
  gate.pass(event(3, 'job_submitted'), frame(3));
  expect(sent).toEqual([3]);
});

test('live copies of replayed events are dropped, progress is not', () => {
  const sent: number[] = [];
  const gate = gateInto(sent);
  gate.replayed(5);
  gate.pass(event(5), frame(5));
  gate.pass(event(5, 'job_progress'), frame(50));
  gate.pass(event(6), frame(6));
  expect(sent).toEqual([50, 6]);
});
