/**
 * Four times as many synchronous requests as the service can answer: it goes on answering what it can. How fast is
 * measured by `npm run bench -- overload`.
 */
import { expect, test } from 'vitest';
import { overload } from '../../bench/load/overload.js';
import { DEMO } from '../support/service-client.js';
import { startService } from '../support/service-process.js';

const MIB = 2 ** 20;

test('under overload each request is answered or told when to come back, in bounded memory', async () => {
  await using service = await startService({ env: { LATTICE_IMAGE_ROOTS: DEMO } });
  const found = await overload({
    url: service.url,
    pid: service.pid,
    photos: ['shapes.png'],
    factor: 4,
    rounds: 1,
    peakSeconds: 1,
    overloadSeconds: 3,
  });
  expect(Object.keys(found.statuses).sort()).toEqual(['200', '503']);
  expect(Math.min(...found.retryAfterS)).toBeGreaterThanOrEqual(1);
  expect(found.mostBytes - found.restBytes).toBeLessThan(200 * MIB);
  expect(service.output()).not.toContain('"stack"');
});
