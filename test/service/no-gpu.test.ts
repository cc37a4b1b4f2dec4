/** A service that is asked for a GPU on a machine that has none. */
import { expect, test } from 'vitest';
import { gpus } from '../../src/native/core.js';
import { startService } from '../support/service-process.js';

const { missing } = gpus();
if (missing === null) console.log('Left out: a service without a GPU: this machine has one.');

test.skipIf(missing === null)('cuda is refused, with what is missing', async () => {
  await expect(startService({ env: { LATTICE_DEVICE: 'cuda' } })).rejects.toThrow(missing!);
});

test.skipIf(missing === null)('auto serves on the CPU and says why', async () => {
  await using service = await startService({ env: { LATTICE_DEVICE: 'auto' } });
  const answer = await fetch(`${service.url}/v1/cluster/status`);
  const { engine } = (await answer.json()) as {
    engine: { device: string; reason: string; gpus: unknown[] };
  };
  expect(engine.device).toBe('cpu');
  expect(engine.gpus).toEqual([]);
  expect(missing).toContain(/^cpu: (.*?); /.exec(engine.reason)![1]);
  const metrics = await fetch(`${service.url}/metrics`);
  expect(await metrics.text()).not.toContain('lattice_gpu');
});
