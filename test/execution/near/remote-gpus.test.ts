/** GPUs of a worker at the other end of a socket. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { gpusOf } from '../../../src/execution/worker-stats.js';
import type { ServiceLink } from '../../../src/execution/far/service-link.js';
import type { GpuReading } from '../../../src/api/schemas/gpu-reading.js';
import { ScriptedDetector } from '../../support/scripted-detector.js';
import { lostGpu, simulatedGpu } from '../../support/simulated-gpus.js';
import { openWorkerRig, startWorker, type WorkerRig } from '../../support/worker-rig.js';
import { until } from '../../support/eventually.js';

class GpuDetector extends ScriptedDetector {
  gpuReadings: readonly GpuReading[] = [simulatedGpu(0), lostGpu(1)];

  override stats() {
    return { ...super.stats(), gpuReadings: this.gpuReadings };
  }
}

let rig: WorkerRig;
let links: ServiceLink[] = [];
beforeEach(async () => {
  rig = await openWorkerRig();
});
afterEach(async () => {
  await Promise.all(links.map((link) => link.stop(0)));
  links = [];
  await rig.close();
});

test('a worker reports its GPUs to the service, and the age of the report grows', async () => {
  const detector = new GpuDetector();
  links.push(await startWorker(rig, detector, { nodeId: 'node-7' }));
  const [first, second] = gpusOf(rig.detector.workers());
  expect(first).toMatchObject({
    ...simulatedGpu(0),
    nodeId: 'node-7',
    sampleAgeSeconds: expect.any(Number),
  });
  expect(second).toMatchObject({ ...lostGpu(1), sampleAgeSeconds: expect.any(Number) });
  await until(
    () => gpusOf(rig.detector.workers())[0]!.sampleAgeSeconds! > first!.sampleAgeSeconds!,
    'older figures',
  );
  detector.gpuReadings = [simulatedGpu(0, { temperatureCelsius: 77 })];
  await until(
    () => gpusOf(rig.detector.workers())[0]!.temperatureCelsius === 77,
    'the next report',
  );
});

test('a worker on the CPU reports no GPUs', async () => {
  links.push(await startWorker(rig, new ScriptedDetector()));
  expect(gpusOf(rig.detector.workers())).toEqual([]);
});
