/** Random histories against a model of three lines: what may be, what must be, and what must never be. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JobEvent } from '../../src/store/job.js';
import { FakeDetector, type FakeAnswer } from '../support/fake-detector.js';
import { TemporaryFolder, imagesNamed, openTestJobs, specOf, type TestJobs } from './job-folder.js';
import { until } from '../support/eventually.js';

const RUNS = 12;
const STEPS = 60;

interface Expected {
  jobId: string;
  answers: FakeAnswer[];
  cancelled: boolean;
}

type Step =
  | { kind: 'submit'; answers: FakeAnswer[]; priority: number }
  | { kind: 'cancel'; which: number }
  | { kind: 'restart' }
  | { kind: 'wait'; ms: number };

const arbitraryStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('submit' as const),
      answers: fc.array(fc.constantFrom<FakeAnswer>('ok', 'invalid_image'), {
        minLength: 1,
        maxLength: 5,
      }),
      priority: fc.integer({ min: 0, max: 10 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('cancel' as const), which: fc.nat(50) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(10) }) },
);

class Model {
  readonly expected: Expected[] = [];
  readonly #folder: TemporaryFolder;
  #jobs: TestJobs;

  private constructor(folder: TemporaryFolder, jobs: TestJobs) {
    this.#folder = folder;
    this.#jobs = jobs;
  }

  static async open(folder: TemporaryFolder): Promise<Model> {
    return new Model(folder, await openTestJobs(folder, {}, detector()));
  }

  async apply(step: Step): Promise<void> {
    if (step.kind === 'submit') {
      const { answers, priority } = step;
      const imagePaths = answers.map((answer, index) => `${answer}-${index}`);
      const { job } = await this.#jobs.service.submit(specOf({ imagePaths, priority }));
      this.expected.push({ jobId: job.jobId, answers, cancelled: false });
    } else if (step.kind === 'cancel') {
      const target = this.expected[step.which % Math.max(1, this.expected.length)];
      if (target === undefined) return;
      const cancelled = await this.#jobs.service.cancel(target.jobId, null).then(
        () => true,
        () => false,
      );
      // An end is an end: nothing is cancelled twice.
      expect(cancelled && target.cancelled).toBe(false);
      target.cancelled ||= cancelled;
    } else if (step.kind === 'restart') {
      await this.#jobs.stop(0);
      this.#jobs = await openTestJobs(this.#folder, {}, detector());
    } else {
      await new Promise((resolve) => setTimeout(resolve, step.ms));
    }
  }

  async check(): Promise<void> {
    const { service } = this.#jobs;
    await until(async () => {
      const { pending, running } = await service.counts();
      return pending + running === 0;
    }, 'drained');
    const { events } = await service.eventsAfter(0, 10_000);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    for (const expected of this.expected) {
      const job = await service.get(expected.jobId, null);
      const ok = expected.answers.includes('ok');
      expect(job.status).toBe(ok && !expected.cancelled ? 'completed' : 'failed');
      expect(job.error?.code === 'cancelled').toBe(expected.cancelled);
      checkEvents(events.filter(({ jobId }) => jobId === expected.jobId));
      const images = await service.images(expected.jobId);
      images.forEach(({ outcome }, index) => {
        const answer = expected.answers[index] === 'ok' ? 'ok' : 'error';
        if (outcome !== null || !expected.cancelled) expect(outcome?.status).toBe(answer);
      });
    }
    expect(await service.counts()).toEqual({ pending: 0, running: 0, queuedImages: 0 });
    await this.#jobs.stop(0);
  }
}

function detector(): FakeDetector {
  const fake = new FakeDetector();
  fake.delayMs = 1;
  fake.answer = ({ path }) => path.split('-')[0] as FakeAnswer;
  return fake;
}

/** Submitted once and first, ended once and last, started in between as often as a process took it up. */
function checkEvents(events: JobEvent[]): void {
  expect(events[0]?.event).toBe('job_submitted');
  expect(['job_completed', 'job_failed']).toContain(events.at(-1)?.event);
  for (const { event } of events.slice(1, -1)) expect(event).toBe('job_started');
}

test(`${RUNS} random histories of up to ${STEPS} steps`, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(arbitraryStep, { minLength: 20, maxLength: STEPS }),
      async (steps) => {
        using folder = new TemporaryFolder();
        const model = await Model.open(folder);
        for (const step of steps) await model.apply(step);
        await model.check();
      },
    ),
    { numRuns: RUNS, endOnFailure: true },
  );
});

test('a concurrent history: 300 submits, cancels and two restarts', async () => {
  using folder = new TemporaryFolder();
  const model = await Model.open(folder);
  for (let round = 0; round < 3; round += 1) {
    await Promise.all(
      imagesNamed('', 100).map(async (_, index) => {
        await model.apply({
          kind: 'submit',
          answers: ['ok', 'invalid_image'],
          priority: index % 11,
        });
        if (index % 4 === 0) await model.apply({ kind: 'cancel', which: index });
      }),
    );
    if (round < 2) await model.apply({ kind: 'restart' });
  }
  await model.check();
  expect(model.expected).toHaveLength(300);
});
