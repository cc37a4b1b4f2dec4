/** A service with two worker processes on the CPU in place of two GPUs. */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openStore } from '../../src/store/service-store.js';
import { writeOwnModel } from '../support/own-model.js';
import { call, DEMO, detect } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';
import { WORKER_FAULTS, workerConformance, workersReady } from '../support/worker-conformance.js';
import { eventual, HANG_MS } from '../support/eventually.js';

const ENV = {
  LATTICE_GPUS: 'cpu,cpu',
  LATTICE_IMAGE_ROOTS: DEMO,
  LATTICE_JOBS_YIELD: 'false',
  LATTICE_LOG_LEVEL: 'info',
  LATTICE_SYNC_DEADLINE_MS: '30000',
  ...WORKER_FAULTS,
};

async function open(env: Record<string, string> = {}): Promise<ServiceProcess> {
  const service = await startService({ env: { ...ENV, ...env } });
  await workersReady(service, 2);
  return service;
}

workerConformance({
  open: (imageRoots) => open({ LATTICE_IMAGE_ROOTS: imageRoots }),
  nodes: 1,
  images: 250,
  workerIds: ['cpu-0', 'cpu-1'],
});

/** Ids of the worker processes that the service has started so far. */
function workerPids(service: ServiceProcess): number[] {
  const started = service.output().matchAll(/"workerPid":(\d+),"msg":"worker process started"/g);
  return [...started].map(([, pid]) => Number(pid));
}

const runs = (pid: number) =>
  existsSync(`/proc/${pid}`) && !readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ');

const ended = (pids: number[]) => eventual(() => pids.filter(runs)).toEqual([]);

test('the models of LATTICE_PRELOAD and of aliases are loaded in each of them; a wait for another is told', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lattice-preload-'));
  writeOwnModel(folder);
  for (const name of ['late', 'gate']) {
    copyFileSync(join(folder, 'own.onnx'), join(folder, `${name}.onnx`));
  }
  const store = await openStore(folder);
  for (const model of ['own.pt', 'gate.pt']) {
    await store.putAlias(`of-${model}`, { model, canary: null, shadow: null }, 1, null);
  }
  await store.close();
  try {
    const env = { LATTICE_MODELS_DIR: folder, LATTICE_PRELOAD: 'own,absent' };
    await using service = await open({ ...env, LATTICE_DATA_DIR: folder });
    for (const name of ['own', 'gate']) {
      const told = new RegExp(`"model":"${name}.pt".*model preloaded`, 'g');
      expect(service.output().match(told), name).toHaveLength(2);
    }
    expect(
      service.output().match(/"model":"absent.pt".*a model cannot be preloaded/g),
    ).toHaveLength(2);
    const timings = async (model_name: string) => {
      const { body, headers } = await detect(service.url, { model_name });
      expect(headers.get('server-timing')?.includes('model_load')).toBe(
        'model_load' in body.timings_ms,
      );
      return body.timings_ms;
    };
    expect(await timings('own.pt')).not.toHaveProperty('model_load');
    expect((await timings('late.pt')).model_load).toBeGreaterThan(1);
    const { text } = await call(service.url, '/metrics');
    expect(text).toMatch(/lattice_image_stage_seconds_count\{stage="model_load"\} 1/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe('workers end with the service', () => {
  test('at a stop, one that hangs too', async () => {
    await using service = await open();
    const pids = workerPids(service);
    process.kill(pids[0]!, 'SIGSTOP');
    expect(await service.kill('SIGTERM')).toBe(0);
    await ended(pids);
    expect(service.output()).not.toContain('"level":"warn"');
  });

  test('when it is killed', async () => {
    await using service = await open();
    const pids = workerPids(service);
    await service.kill('SIGKILL');
    await ended(pids);
  });
});

test('a worker needs the token of this start, which no command line shows, and no API key', async () => {
  await using service = await open();
  const upgrade = await fetch(`${service.url}/internal/v1/workers`);
  expect(upgrade.status).toBe(401);
  for (const pid of workerPids(service)) {
    expect(readFileSync(`/proc/${pid}/cmdline`, 'latin1')).toMatch(/worker\.js\0$/);
    expect(readFileSync(`/proc/${pid}/environ`, 'latin1')).toContain(
      'LATTICE_WORKER_TOKEN_FILE=-\0',
    );
  }
});

interface WorkerBody {
  worker_id: string;
  state: string;
  reason: string | null;
}

async function failedWorkers(service: ServiceProcess, count: number): Promise<WorkerBody[]> {
  const deadline = performance.now() + HANG_MS;
  for (;;) {
    const { body } = await call(service.url, '/v1/cluster/status');
    const workers = (body as unknown as { workers: WorkerBody[] }).workers;
    const failed = workers.filter(({ state }) => state === 'failed');
    if (failed.length === count) return failed;
    expect(performance.now(), service.output()).toBeLessThan(deadline);
    await sleep(100);
  }
}

describe('a device that cannot be used', () => {
  test('is left out with its reason while another one works', async () => {
    await using service = await startService({ env: { ...ENV, BROKEN_WORKER: 'cpu-1' } });
    const reason = 'ended with exit code 3: It is broken.';
    expect(await failedWorkers(service, 1)).toMatchObject([{ worker_id: 'cpu-1', reason }]);
    expect((await call(service.url, '/readyz')).status).toBe(200);
    expect((await detect(service.url)).body).toMatchObject({ worker_id: 'cpu-0' });
    expect(service.output()).toContain('fails at its start and is left out');
    expect((await call(service.url, '/metrics')).text).toContain(
      'lattice_workers{state="failed"} 1',
    );
  });

  test('without another one: the service is not ready and says why', async () => {
    await using service = await startService({
      env: { ...ENV, LATTICE_GPUS: '0,1', CUDA_VISIBLE_DEVICES: '' },
    });
    const [first] = await failedWorkers(service, 2);
    expect(first).toMatchObject({ worker_id: 'gpu-0' });
    expect(first!.reason).toContain('LATTICE_DEVICE=cuda, but: ');
    const { status, body } = await call(service.url, '/readyz');
    expect({ status, body }).toMatchObject({ status: 503, body: { code: 'model_not_ready' } });
    expect(body.detail).toContain(`gpu-0: ${first!.reason}`);
  });
});
