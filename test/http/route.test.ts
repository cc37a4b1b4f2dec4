/** The rules of a route, as the server asks for them. */
import { expect, test } from 'vitest';
import { compose } from '../support/composed-app.js';

const CALL = '/api/function_invocations';
const CALL_BYTES = 4 * 334 + 256 * 1024;

test.each([
  ['JSON', 'POST', '/v1/jobs/submit', 'application/json', 100],
  ['a picture', 'POST', '/v1/inference/detect', 'image/jpeg', 1_000],
  ['a file of an upload', 'PUT', '/v1/uploads/u/a%20b/c.jpg?modified_at=1', undefined, 1_000],
  ['the upload itself', 'PUT', '/v1/uploads/u', undefined, 100],
  ['a call of CVAT', 'POST', `${CALL}?a=b`, 'application/json', CALL_BYTES],
  ['another method of it', 'PUT', CALL, 'application/json', 100],
])('%s has its longest body', (_, method, url, type, most) => {
  const app = compose({ compat: 'cvat', maxFileBytes: 1_000, maxBodyBytes: 100 });
  const headers = type === undefined ? {} : { 'content-type': type };
  expect(app.maxBodyBytes({ method, url, headers })).toBe(most);
});
