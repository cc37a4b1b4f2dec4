/** `dist/worker.js` as a process: its life from the first dial to each of its ends. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_PARAMETERS } from '../../../src/api/options.js';
import type { DetectRequest } from '../../../src/execution/detector.js';
import { packageVersion } from '../../../src/base/package.js';
import { startWorkerProcess, type WorkerProcess } from '../../support/worker-process.js';
import { openWorkerRig, type WorkerRig } from '../../support/worker-rig.js';
import { until } from '../../support/eventually.js';

const scratch = mkdtempSync(join(tmpdir(), 'lattice-worker-'));
const tokenFile = join(scratch, 'token');
writeFileSync(tokenFile, 'shared-secret\n');
const started: WorkerProcess[] = [];
let rig: WorkerRig;

beforeAll(async () => {
  rig = await openWorkerRig({ build: packageVersion(), token: 'shared-secret' });
});
afterEach(async () => {
  for (const worker of started) worker.kill('SIGKILL');
  await Promise.all(started.splice(0).map(({ exited }) => exited));
  await until(() => rig.detector.workers().length === 0, 'all workers gone');
});
afterAll(async () => {
  await rig.close();
  rmSync(scratch, { recursive: true });
});

function start(env: Record<string, string> = {}): WorkerProcess {
  const worker = startWorkerProcess({
    LATTICE_SERVICE_URL: rig.server.url.replace('http', 'ws'),
    LATTICE_WORKER_TOKEN_FILE: tokenFile,
    LATTICE_WORKER_ID: `worker-${started.length}`,
    LATTICE_NODE_ID: 'node-7',
    ...env,
  });
  started.push(worker);
  return worker;
}

async function joined(count = 1): Promise<void> {
  await until(() => rig.detector.workers().length === count, `${count} workers`);
}

const picture = (more: Partial<DetectRequest> = {}): DetectRequest => ({
  path: 'shapes.png',
  kind: 'sync',
  options: { ...DEFAULT_PARAMETERS, modelName: 'yolov8n.pt', classes: null },
  ...more,
});

describe('a worker process', () => {
  it('serves images, names the node that cannot read one, and drains on SIGTERM', async () => {
    const worker = start();
    await joined();
    expect(rig.detector.workers()[0]!.worker).toMatchObject({
      workerId: 'worker-0',
      nodeId: 'node-7',
    });
    const result = await rig.detector.detect(picture());
    expect(result.workerId).toBe('worker-0');
    expect(result.detections.length).toBeGreaterThan(3);
    await expect(rig.detector.detect(picture({ path: 'gone.jpg' }))).rejects.toMatchObject({
      code: 'image_not_found',
      message: expect.stringContaining('(node node-7)'),
    });
    const crowd = Array.from({ length: 12 }, () => rig.detector.detect(picture({ kind: 'async' })));
    worker.kill('SIGTERM');
    expect(await worker.exited).toBe(0);
    // Images that it had not begun when it was told wait for the next worker.
    start({ LATTICE_WORKER_ID: 'next' });
    const results = await Promise.all(crowd);
    expect(new Set(results.map((each) => JSON.stringify(each.detections))).size).toBe(1);
  });

  it('is killed with images in hand: another worker answers them', async () => {
    const victim = start();
    await joined();
    const crowd = Array.from({ length: 40 }, () => rig.detector.detect(picture({ kind: 'async' })));
    await crowd[0];
    victim.kill('SIGKILL');
    await victim.exited;
    start({ LATTICE_WORKER_ID: 'heir' });
    const results = await Promise.all(crowd);
    expect(results.at(-1)!.workerId).toBe('heir');
    expect(rig.detector.events.requeued).toBeGreaterThan(0);
  });

  it('ends when its standard input closes', async () => {
    const worker = start();
    await joined();
    worker.closeInput();
    expect(await worker.exited).toBe(1);
  });

  it('ends on a SIGTERM that comes while it loads its model', async () => {
    const worker = start();
    const loads = () => readFileSync(`/proc/${worker.pid}/maps`, 'latin1').includes('openvino');
    await until(loads, 'the engine is being loaded');
    worker.kill('SIGTERM');
    expect(await worker.exited).toBe(0);
    expect(worker.output()).not.toContain('dialling again');
  });

  it('reconnects while the service refuses its token', async () => {
    const wrong = join(scratch, 'wrong');
    writeFileSync(wrong, 'another-secret');
    const worker = start({ LATTICE_WORKER_TOKEN_FILE: wrong });
    await until(() => worker.output().includes('the service answered 401'), '401');
    expect(rig.detector.workers()).toEqual([]);
    worker.kill('SIGTERM');
    expect(await worker.exited).toBe(0);
  });

  it.each([
    ['no address', { LATTICE_SERVICE_URL: '' }, 'LATTICE_SERVICE_URL'],
    ['a setting that is wrong', { LATTICE_THREADS: 'many' }, 'LATTICE_THREADS'],
  ])('ends with 78 for %s', async (_what, env, named) => {
    const worker = start(env);
    expect(await worker.exited).toBe(78);
    expect(worker.output()).toContain(named);
  });
});
