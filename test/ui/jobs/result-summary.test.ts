import { expect, test } from 'vitest';
import { LatticeError } from '../../../src/errors.js';
import { imageSummary, resultSummary } from '../../../src/ui/jobs/result-summary.js';
import { timeSteps } from '../../../src/ui/picture/time-steps.js';
import type { DetectResponse, JobResult } from '../../../src/client/records.js';
import { compose, get, post } from '../../support/composed-app.js';
import { okOutcome } from '../../support/fake-jobs.js';

const app = compose();
const HOSTILE = '<img src=x onerror=alert(1)>\u202egpj.jpg';

async function resultOf(paths: string[], end: (jobId: string) => void): Promise<JobResult> {
  const body = { job_type: 'batch_detect', image_paths: paths };
  const { job_id } = (await post(app, '/v1/jobs/submit', body)).body as { job_id: string };
  end(job_id);
  return (await get(app, `/v1/jobs/${job_id}/result`)).body as JobResult;
}

test('a detection shows what was found, and where its time went', async () => {
  const { body } = await post(app, '/v1/inference/detect', { image_path: 'a.jpg' });
  const answer = body as DetectResponse;
  expect(imageSummary(answer)).toBe('1 found: 1 car. 640 × 480 pixels.');
  expect(imageSummary({ ...answer, truncated: true })).toContain('cut at the most');
  expect(timeSteps(answer).map(({ step, text }) => `${step} ${text}`)).toEqual([
    'queue 0.1 ms',
    'decode 2.0 ms',
    'preprocess 0.4 ms',
    'inference 12.9 ms',
    'postprocess 0.3 ms',
  ]);
  const loaded = { ...answer, timings_ms: { ...answer.timings_ms, model_load: 1_204 } };
  expect(timeSteps(loaded)[1]).toEqual({ step: 'model load', ms: 1_204, text: '1204 ms' });
});

test('a result shows its first images and what all come to', async () => {
  const result = await resultOf([HOSTILE, 'b.jpg', 'c.jpg'], (jobId) => {
    const error = new LatticeError('image_not_found', 'Gone.').toProblem();
    const failed = { status: 'error' as const, error };
    app.jobs.finish(jobId, [okOutcome(['car', 'bus']), failed, okOutcome()]);
  });
  const { summary, rows } = resultSummary(result, 2);
  expect(summary).toBe('2 images done, 1 failed; 3 found: 2 car, 1 bus. The first 2 of 3 images:');
  expect(rows).toEqual([
    { path: HOSTILE, outcome: '1 car, 1 bus' },
    { path: 'b.jpg', outcome: 'Image not found: Gone. (image_not_found)' },
  ]);
});

test('a result of one image, and none at all', async () => {
  const one = await resultOf(['a.jpg'], (jobId) => {
    app.jobs.finish(jobId, [okOutcome()]);
  });
  expect(resultSummary(one, 20)).toEqual({
    summary: '1 found: 1 car. 640 × 480 pixels.',
    rows: [{ path: 'a.jpg', outcome: '1 car' }],
  });
  const none = await resultOf(['a.jpg'], (jobId) => {
    app.jobs.fail(jobId, new LatticeError('image_not_found', 'Gone.'));
  });
  expect(resultSummary(none, 20)).toEqual({ summary: 'No image gave boxes.', rows: [] });
});
