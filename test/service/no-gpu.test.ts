/** A service that is asked for a GPU on a machine that has none. */
import { expect, test } from 'vitest';
import { gpus } from '../../src/native/core.js';
import { startService } from '../support/service-process.js';

const { missing } = gpus();
if (missing === null) console.log('left out: this machine has a GPU');

// Again where the machine was busy with other tests: it takes half a second on a free one.
const busy = { retry: 2 };

test.skipIf(missing === null)(
  'cuda is refused within 2 s, with what is missing',
  busy,
  async () => {
    const started = performance.now();
    await expect(startService({ env: { LATTICE_DEVICE: 'cuda' } })).rejects.toThrow(missing!);
    expect(performance.now() - started).toBeLessThan(2_000);
  },
);

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
