import { describe, expect, test } from 'vitest';
import {
  ERRORS,
  errorsOf,
  LatticeError,
  toLatticeError,
  type ErrorCode,
} from '../../src/api/errors.js';
import { NATIVE_CODES } from '../../src/native/contract.js';

const codes = Object.keys(ERRORS) as ErrorCode[];

test('codes are snake_case, titles are distinct sentences without a full stop', () => {
  const titles = codes.map((code) => ERRORS[code].title);
  expect(new Set(titles).size).toBe(titles.length);
  for (const code of codes) expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
  for (const title of titles) expect(title).toMatch(/^[A-Z].*[^.]$/);
});

test('every status is one that the interface or the design names', () => {
  // 507: the quota of uploads.
  const known = [400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 500, 503, 504, 507];
  for (const code of codes) expect(known, code).toContain(ERRORS[code].status);
});

test.each([
  ['bad_json', 400],
  ['job_not_found', 404],
  ['job_not_finished', 409],
  ['body_too_large', 413],
  ['unsupported_media_type', 415],
  ['validation_failed', 422],
  ['path_not_allowed', 422],
  ['image_not_found', 422],
  ['invalid_image', 422],
  ['queue_full', 429],
  ['detection_failed', 500],
  ['cluster_unavailable', 503],
  ['overloaded', 503],
  ['deadline_exceeded', 504],
] as const)('%s is %d', (code, status) => {
  expect(ERRORS[code].status).toBe(status);
});

test('every code that the addon can give is in the table', () => {
  for (const code of NATIVE_CODES) if (code !== 'ok') expect(codes).toContain(code);
});

test.each([
  ['another worker may run the image', ({ of }) => of === 'worker'],
  ['the image is run again', ({ passing }) => passing === true],
  ['nothing is known of the image', ({ unfinished }) => unfinished === true],
  ['the worker is about to end', ({ endsWorker }) => endsWorker === true],
] satisfies [string, (row: (typeof ERRORS)[ErrorCode]) => boolean][])(
  'a fault of an image does not mean that %s',
  (_meaning, means) => {
    for (const code of errorsOf('image', 'model')) expect(means(ERRORS[code]), code).toBe(false);
  },
);

describe('LatticeError', () => {
  test('is its problem', () => {
    const errors = [{ detail: 'Wrong.', pointer: '#/a' }];
    const problem = new LatticeError('validation_failed', 'No.', { errors }).toProblem('r-1');
    expect(problem).toEqual({
      type: 'urn:lattice:error:validation_failed',
      title: ERRORS.validation_failed.title,
      status: 422,
      code: 'validation_failed',
      detail: 'No.',
      request_id: 'r-1',
      errors,
    });
    expect(new LatticeError('not_found', 'No.').toProblem()).not.toHaveProperty('request_id');
  });

  test.each([[new Error('inner')], ['text'], [null], [undefined]])(
    'a foreign %s becomes internal_error without its text',
    (thrown) => {
      const error = toLatticeError(thrown);
      expect(error).toMatchObject({ code: 'internal_error', status: 500 });
      expect(error.cause).toBe(thrown);
      expect(JSON.stringify(error.toProblem())).not.toContain('inner');
    },
  );

  test('one of ours stays itself', () => {
    const error = new LatticeError('overloaded', 'Busy.', { retryAfterS: 3 });
    expect(toLatticeError(error)).toBe(error);
  });
});
