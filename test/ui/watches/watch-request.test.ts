import { expect, test } from 'vitest';
import type { JobFields } from '../../../src/ui/jobs/job-request.js';
import { watchRequest } from '../../../src/ui/watches/watch-request.js';

const fields: JobFields = {
  paths: 'north/\n\nsouth/*.jpg',
  type: 'detect_cars',
  model: 'own.pt',
  classes: [],
  threshold: 0.35,
  priority: 3,
  view: 'north',
  written: { tiles: 'auto' },
  metadata: '{"ts_ns": 1764064800123456789}',
  callback: '',
  annotate: false,
};

test('a watch has the settings of a job, paths, and times in milliseconds', () => {
  const text = watchRequest(fields, { name: ' gate ', settleS: 2.5, existing: 'leave' });
  expect(text).toContain(fields.metadata);
  expect(JSON.parse(text)).toMatchObject({
    name: 'gate',
    paths: ['north/', 'south/*.jpg'],
    job_type: 'detect_cars',
    model_name: 'own.pt',
    confidence_threshold: 0.35,
    view: 'north',
    tiles: 'auto',
    settle_ms: 2500,
    existing: 'leave',
  });
  expect(JSON.parse(text)).not.toHaveProperty('image_paths');
});

test('a time that is not given is that of the service', () => {
  const text = watchRequest(fields, { name: 'gate', settleS: NaN, existing: 'take' });
  expect(JSON.parse(text)).toMatchObject({ settle_ms: null });
});
