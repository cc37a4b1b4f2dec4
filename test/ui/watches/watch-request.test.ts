import { expect, test } from 'vitest';
import type { JobFields } from '../../../src/ui/jobs/job-request.js';
import { watchChanges, watchRequest } from '../../../src/ui/watches/watch-request.js';

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
  labels: { name: null, tags: ['night'], keep: 30 },
};

const written = (given: Record<string, string>) => (name: string) => given[name] ?? '';

test('a watch has the settings of a job, paths, and times in milliseconds', () => {
  const given = {
    watch: ' gate ',
    settle: '2.5',
    existing: 'leave',
    schedule: 'mon-tue@06:00-20:00, 22:00-23:00',
    images: '20',
    wait: '0',
    health: 'on',
    gap: '60',
  };
  const text = watchRequest(fields, written(given));
  expect(text).toContain(fields.metadata);
  expect(JSON.parse(text)).toMatchObject({
    name: 'gate',
    paths: ['north/', 'south/*.jpg'],
    job_type: 'detect_cars',
    model_name: 'own.pt',
    confidence_threshold: 0.35,
    view: 'north',
    tiles: 'auto',
    tags: ['night'],
    keep: 30,
    settle_ms: 2500,
    existing: 'leave',
    schedule: [
      { from: '06:00', to: '20:00', days: ['mon', 'tue'] },
      { from: '22:00', to: '23:00' },
    ],
    batch: { max_images: 20, max_wait_s: 0 },
    camera_health: true,
    event_gap_s: 60,
  });
  expect(JSON.parse(text)).not.toHaveProperty('image_paths');
});

const DEFAULTS = {
  settle_ms: null,
  schedule: null,
  batch: { max_images: null, max_wait_s: null },
  camera_health: false,
  event_gap_s: null,
};

test('what is not given is that of the service', () => {
  const text = watchRequest(fields, written({ watch: 'gate', existing: 'take' }));
  expect(JSON.parse(text)).toMatchObject(DEFAULTS);
});

test('a change names folders, times and what is told', () => {
  const changes = watchChanges(written({ paths: 'north\nsouth\n' }));
  expect(changes).toEqual({ ...DEFAULTS, paths: ['north', 'south'], places: false });
  expect(watchChanges(written({ paths: 'north', places: 'on' }))).toMatchObject({ places: true });
});

test('times that are none are refused before anything is sent', () => {
  expect(() => watchChanges(written({ paths: 'north', schedule: 'at night' }))).toThrow(
    "'at night' is no time",
  );
});
