import { expect, test } from 'vitest';
import { compose, get } from '../../support/composed-app.js';
import { GpuWorker, lostGpu, reportOf, simulatedGpu } from '../../support/simulated-gpus.js';

const workers = reportOf([
  new GpuWorker('worker-1', 'node-1', [
    simulatedGpu(0),
    simulatedGpu(1, { slowedBy: ['power_cap'], sampleAgeSeconds: 1.2345678 }),
  ]),
  new GpuWorker('worker-2', 'node-2', [lostGpu(0)]),
]);
const detector = { workers: () => workers, modelDigests: () => ({}) };
const ofWorkers = () => compose({}, { cluster: { gate: null, detector } });

test('the status shows the reading of each GPU', async () => {
  const { status, body } = await get(ofWorkers(), '/v1/cluster/status');
  expect(status).toBe(200);
  expect(body.engine.gpus[0]).toEqual({
    node_id: 'node-1',
    index: 0,
    name: 'Simulated GPU',
    uuid: 'GPU-0',
    bus_id: '0000:00:00.0',
    numa_node: 0,
    state: 'ok',
    memory_total_bytes: 80 * 2 ** 30,
    memory_used_bytes: 2 ** 30,
    utilisation_percent: 50,
    temperature_celsius: 40,
    power_watts: 300.5,
    power_limit_watts: 700,
    sm_clock_mhz: 1_980,
    uncorrected_memory_errors: 0,
    mig: false,
    slowed_by: [],
    sample_age_seconds: 0.4,
    reason: null,
  });
  expect(body.engine.gpus[1]).toMatchObject({
    index: 1,
    slowed_by: ['power_cap'],
    sample_age_seconds: 1.235,
  });
});

test('a GPU without a reading is listed with the reason', async () => {
  const { body } = await get(ofWorkers(), '/v1/cluster/status');
  expect(body.engine.gpus[2]).toMatchObject({
    node_id: 'node-2',
    name: 'Simulated GPU',
    state: 'lost',
    memory_used_bytes: null,
    temperature_celsius: null,
    reason: 'The GPU is lost.',
  });
});

test('on the CPU the list is empty and the reason of the engine is given', async () => {
  const { body } = await get(compose(), '/v1/cluster/status');
  expect(body.engine).toMatchObject({ gpus: [], reason: 'scripted' });
});

test('the OpenAPI document describes them', async () => {
  const { body } = await get(compose(), '/openapi.json');
  const { required, properties } = body.components.schemas.ClusterGpu;
  expect(required).toContain('memory_used_bytes');
  expect(properties.temperature_celsius.type).toEqual(['number', 'null']);
  expect(properties.state.enum).toEqual(['ok', 'failed_check', 'lost']);
  expect(properties.slowed_by.items.enum).toEqual([
    'power_cap',
    'thermal',
    'hardware_slowdown',
    'hardware_thermal',
    'power_brake',
  ]);
});
