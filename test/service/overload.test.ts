/** Four times as many synchronous requests as the service can answer: it goes on answering what it can. */
import { expect, test } from 'vitest';
import { overload } from '../../bench/load/overload.js';
import { summarise } from '../../bench/load/percentiles.js';
import { DEMO } from '../support/service-client.js';
import { startService } from '../support/service-process.js';

const MIB = 2 ** 20;

test('overload costs little goodput, no accepted request its time, and no memory', async () => {
  await using service = await startService({ env: { LATTICE_IMAGE_ROOTS: DEMO } });
  const found = await overload({
    url: service.url,
    pid: service.pid,
    photos: ['shapes.png'],
    factor: 4,
    rounds: 2,
    peakSeconds: 2,
    overloadSeconds: 4,
  });
  const accepted = summarise(found.accepted);
  const refused = summarise(found.refused);
  console.log(
    `peak ${found.peak.toFixed(0)}/s, goodput ${found.goodput.toFixed(0)}/s; accepted p99 ` +
      `${accepted.p99.toFixed(0)} ms; refused p50 ${refused.p50.toFixed(1)} ms; ` +
      `${(found.restBytes / MIB).toFixed(0)} -> ${(found.mostBytes / MIB).toFixed(0)} MiB`,
  );
  expect(Object.keys(found.statuses).sort()).toEqual(['200', '503']);
  // The test machine has other work: the goals (0.9, 2.5 s, 5 ms) are those of `npm run bench -- overload`.
  expect(found.goodput / found.peak).toBeGreaterThan(0.5);
  expect(accepted.p99).toBeLessThan(6_000);
  expect(refused.p50).toBeLessThan(accepted.p50 / 2);
  expect(Math.min(...found.retryAfterS)).toBeGreaterThanOrEqual(1);
  expect(found.mostBytes - found.restBytes).toBeLessThan(200 * MIB);
  expect(service.output()).not.toContain('"stack"');
}, 60_000);
