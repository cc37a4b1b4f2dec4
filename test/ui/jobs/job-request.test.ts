import { expect, test } from 'vitest';
import {
  givenFields,
  jobRequest,
  metadataFault,
  type JobFields,
} from '../../../src/ui/jobs/job-request.js';

const fields: JobFields = {
  paths: 'a/\n\n b.jpg ',
  type: 'detect_vehicles',
  model: 'own.pt',
  classes: ['bus'],
  threshold: 0.35,
  priority: 3,
  view: 'north',
  written: { tiles: 'auto', minSize: 0.05 },
  metadata: '{"title":"North"}',
  callback_url: 'https://example.org/hook',
  labels: { name: 'North gate', tags: ['night'], keep: true },
  annotate: true,
};

test('every field of the form is sent', () => {
  expect(JSON.parse(jobRequest(fields))).toEqual({
    job_type: 'detect_vehicles',
    model_name: 'own.pt',
    classes: ['bus'],
    image_paths: ['a/', ' b.jpg '],
    confidence_threshold: 0.35,
    priority: 3,
    view: 'north',
    tiles: 'auto',
    min_size: 0.05,
    metadata: { title: 'North' },
    callback_url: 'https://example.org/hook',
    name: 'North gate',
    tags: ['night'],
    keep: true,
    annotate: true,
    places: null,
  });
});

test('empty fields are not given, and a job for cars has no classes', () => {
  const empty = {
    ...fields,
    model: '',
    classes: [],
    metadata: ' ',
    view: '',
    callback_url: null,
    labels: { name: null, tags: [], keep: false },
    annotate: null,
  };
  expect(JSON.parse(jobRequest({ ...empty, priority: null }))).toMatchObject({
    model_name: null,
    classes: null,
    priority: null,
    metadata: null,
    view: null,
    callback_url: null,
    name: null,
    tags: null,
    keep: null,
    annotate: null,
  });
  const cars = JSON.parse(jobRequest({ ...fields, type: 'detect_cars' }));
  expect(cars).toMatchObject({ classes: null });
});

test('metadata are sent as they are written', () => {
  const metadata = '{"ts_ns": 1764064800123456789}';
  expect(jobRequest({ ...fields, metadata })).toContain(metadata);
});

test('metadata that is no JSON object is refused before it is sent', () => {
  expect(['', ' ', '{}', '{"a":[1]}'].map(metadataFault)).toEqual(['', '', '', '']);
  for (const text of ['[1]', '3', 'null', '{a:1}']) expect(metadataFault(text)).not.toBe('');
});

test('an untouched field of the form is not given, and white space around an address is left out', () => {
  const form: Record<string, string> = { priority: '7', callback_url: ' https://example.org/a ' };
  const read = givenFields((name) => form[name] ?? '');
  expect(read).toEqual({
    priority: 7,
    callback_url: 'https://example.org/a',
    annotate: null,
    places: null,
  });
  expect(givenFields((name) => (name === 'annotate' ? 'on' : ''))).toEqual({
    priority: null,
    callback_url: null,
    annotate: true,
    places: null,
  });
});
