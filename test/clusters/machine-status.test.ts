import { availableParallelism, hostname } from 'node:os';
import { expect, test } from 'vitest';
import { MachineStatus } from '../../src/clusters/machine-status.js';
import { LatticeError } from '../../src/api/errors.js';
import type { GpuReading } from '../../src/api/schemas/gpu-reading.js';
import type { JobService } from '../../src/jobs/job-service.js';
import { lostGpu, simulatedGpu } from '../support/simulated-gpus.js';
import { ScriptedDetector } from '../support/scripted-detector.js';

function cluster(
  gpus: number,
  inFlight: number,
  gpuReadings: readonly GpuReading[] = [],
): MachineStatus {
  const detector = new ScriptedDetector();
  const stats = { ...detector.stats(), gpus, inFlight, gpuReadings };
  return new MachineStatus({
    detector: { stats: () => stats },
    jobs: { counts: () => Promise.resolve({ pending: 4, running: 2, queuedImages: 9 }) },
    version: '1.2.3',
    threads: 1,
  });
}

const cpus = availableParallelism();

test('an idle CPU machine has all its CPUs available', async () => {
  const local = cluster(0, 0);
  expect(local.connected()).toBe(true);
  expect(await local.status()).toEqual({
    clusterVersion: '1.2.3',
    clusterAlive: true,
    nodes: [{ nodeId: hostname(), alive: true, resources: { CPU: cpus, GPU: 0 } }],
    totalCpus: cpus,
    totalGpus: 0,
    availableCpus: cpus,
    availableGpus: 0,
    pendingJobs: 4,
    runningJobs: 2,
    unanswered: [],
  });
});

test('an image in hand occupies the threads of the engine', async () => {
  expect(await cluster(0, 3).status()).toMatchObject({ availableCpus: cpus - 1 });
});

test('on a GPU machine it occupies the GPUs', async () => {
  expect(await cluster(2, 0).status()).toMatchObject({ totalGpus: 2, availableGpus: 2 });
  expect(await cluster(2, 1).status()).toMatchObject({
    nodes: [{ resources: { GPU: 2 } }],
    availableGpus: 0,
    availableCpus: cpus,
  });
});

test('a lost GPU is counted but not available', async () => {
  const readings = [simulatedGpu(0), lostGpu(1)];
  expect(await cluster(2, 0, readings).status()).toMatchObject({ totalGpus: 2, availableGpus: 1 });
});

test('a failure of the store rejects', async () => {
  const jobs = {
    counts: () => Promise.reject(new LatticeError('storage_unavailable', 'Disk.')),
  } as unknown as JobService;
  const detector = new ScriptedDetector();
  const local = new MachineStatus({ detector, jobs, version: '1', threads: 1 });
  await expect(local.status()).rejects.toMatchObject({ code: 'storage_unavailable' });
});
