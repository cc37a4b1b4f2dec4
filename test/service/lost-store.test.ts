/** A store that can no longer be written: the process ends for its supervisor, and nothing acknowledged is lost. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { faultyDisk } from '../support/faulty-disk.js';
import { FEW_THREADS, post, resultOf, submit } from '../support/service-client.js';
import { startService } from '../support/service-process.js';

const EX_IOERR = 74;

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'lattice-lost-store-'));
});
afterEach(() => {
  rmSync(dataDir, { recursive: true, force: true });
});

test.each(['write', 'sync'] as const)(
  'after one failed %s the process ends with exit code 74 within 5 s, and the next goes on',
  async (call) => {
    using disk = faultyDisk(dataDir);
    if (disk === null) return;
    const env = { ...FEW_THREADS, ...disk.env };
    const image_paths = Array(200).fill('shapes.png');
    let id: string;
    {
      await using service = await startService({ dataDir, env });
      id = await submit(service.url, { image_paths });
      disk.fail(call, 'EIO', 'once');
      // The job may have met the fault before it.
      const job = { job_type: 'detect_cars', image_paths: ['shapes.png'] };
      const refused = await post(service.url, '/v1/jobs/submit', job).catch(() => null);
      expect(refused?.body.code ?? 'no answer').toMatch(
        /storage_unavailable|shutting_down|no answer/,
      );
      expect(await service.exited, service.stdout()).toBe(EX_IOERR);
      expect(service.stdout()).toContain('the job store can no longer be written');
      expect(disk.isWell()).toBe(true);
    }
    await using service = await startService({ dataDir, env });
    expect((await resultOf(service.url, id)).result).toMatchObject({ succeeded: 200 });
    await submit(service.url, { image_paths: ['shapes.png'] });
  },
);
