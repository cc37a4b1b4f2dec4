/**
 * Against a Ray that listens. Set LATTICE_TEST_RAY=ray://HOST:10001 and LATTICE_TEST_RAY_DASHBOARD=http://HOST:8265;
 * without them nothing here runs.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RayCluster } from '../../src/cluster/ray/ray-cluster.js';
import { parseRayAddress } from '../../src/cluster/ray/ray-address.js';
import { RaySession } from '../../src/cluster/ray/ray-session.js';
import { takeSnapshot } from '../../src/cluster/ray/ray-snapshot.js';
import { readRayToken } from '../../src/cluster/ray/ray-token.js';
import { RayWorkers } from '../../src/cluster/ray/ray-workers.js';
import { until } from '../cluster/ray/fake-ray-head.js';

const address = process.env.LATTICE_TEST_RAY ?? '';
const dashboard = process.env.LATTICE_TEST_RAY_DASHBOARD ?? '';
const missing = address === '' || dashboard === '';
if (missing) {
  console.log('skipped: LATTICE_TEST_RAY and LATTICE_TEST_RAY_DASHBOARD name no Ray to test with');
}

const logged: { message: string; lines?: string }[] = [];
const log = (fields: object, message: string) => {
  logged.push({ ...fields, message });
};
const logger = { debug: log, info: log, warn: log, error: log };
const counts = () => Promise.resolve({ pending: 0, running: 0, queuedImages: 0 });

/** Says what it was given and where it runs. */
const MAIN = `
import sys
import ray
ray.init(namespace=sys.argv[sys.argv.index("--namespace") + 1])
print("GIVEN", sys.argv[1:], "NAMESPACE", ray.get_runtime_context().namespace)
sys.exit(3 if "--fail" in sys.argv[-1] else 0)
`;

describe.skipIf(missing)('a real Ray', () => {
  let folder = '';
  let packageFolder = '';
  let ray: RayCluster;
  let startedAt = 0;
  const openedAt: number[] = [];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'lattice-ray-'));
    packageFolder = join(folder, 'lattice_ray');
    mkdirSync(packageFolder);
    writeFileSync(join(packageFolder, '__init__.py'), '');
    writeFileSync(join(packageFolder, '__main__.py'), MAIN);
    startedAt = performance.now();
    ray = new RayCluster({
      address,
      namespace: 'lattice',
      tokenFile: process.env.LATTICE_TEST_RAY_TOKEN_FILE ?? '',
      jobs: { counts },
      logger,
      onNodes: () => openedAt.push(performance.now()),
    });
  });

  const workers = (env: Record<string, string>) =>
    new RayWorkers({
      dashboard,
      namespace: 'lattice',
      workers: 'auto',
      serviceUrl: 'ws://127.0.0.1:8000',
      command: null,
      env,
      tokenFile: process.env.LATTICE_TEST_RAY_TOKEN_FILE ?? '',
      version: '0.0.0',
      connected: () => ray.connected(),
      logger,
      packageFolder,
    });

  afterAll(async () => {
    await ray.close();
    rmSync(folder, { recursive: true });
  });

  test('gives its status within seconds, then at once', { timeout: 60_000 }, async () => {
    await until(() => ray.connected(), 50_000);
    const status = await ray.status();
    expect(status.clusterVersion).toMatch(/^\d+\.\d+\.\d+/);
    expect(status.pythonVersion).toMatch(/^3\.\d+\.\d+/);
    expect(status.clusterAlive).toBe(true);
    const alive = status.nodes.filter((node) => node.alive);
    const sum = (name: string) => alive.reduce((all, node) => all + node.resources[name]!, 0);
    expect([status.totalCpus, status.totalGpus]).toEqual([sum('CPU'), sum('GPU')]);
    expect(status.totalCpus).toBeGreaterThan(0);
    expect(status.availableCpus).toBeLessThanOrEqual(status.totalCpus);

    const times: number[] = [];
    for (let call = 0; call < 10_000; call++) {
      const from = performance.now();
      await ray.status();
      times.push(performance.now() - from);
    }
    times.sort((a, b) => a - b);
    const p99 = times[9_900]!;
    console.log(
      `session and first snapshot ${(openedAt[0]! - startedAt).toFixed(0)} ms, ` +
        `status p50 ${times[5_000]!.toFixed(4)} ms, p99 ${p99.toFixed(4)} ms`,
    );
    expect(p99).toBeLessThan(1);
  });

  test('answers a round of questions in a fraction of a poll', { timeout: 60_000 }, async () => {
    const { signal } = new AbortController();
    const parsed = parseRayAddress(address);
    const token = await readRayToken(process.env.LATTICE_TEST_RAY_TOKEN_FILE ?? '');
    const from = performance.now();
    const session = await RaySession.open({ address: parsed, namespace: 'lattice', token, signal });
    const opened = performance.now() - from;
    const times: number[] = [];
    for (let round = 0; round < 300; round++) {
      const asked = performance.now();
      await takeSnapshot(session, 3_000);
      times.push(performance.now() - asked);
    }
    times.sort((a, b) => a - b);
    const closing = performance.now();
    await session.close();
    const closed = performance.now() - closing;
    console.log(
      `session ${opened.toFixed(0)} ms, round p50 ${times[150]!.toFixed(1)} ms, ` +
        `p99 ${times[297]!.toFixed(1)} ms, close ${closed.toFixed(0)} ms`,
    );
    expect(times[150]).toBeLessThan(500);
    expect(closed).toBeLessThan(2_000);
  });

  test('stays connected for longer than a snapshot lives', { timeout: 20_000 }, async () => {
    const end = performance.now() + 8_000;
    while (performance.now() < end) {
      expect(ray.connected()).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(openedAt).toHaveLength(1);
  });

  test('runs `up` with the package it was sent', { timeout: 90_000 }, async () => {
    const starting = workers({ KEY: "it's; $HOME" });
    const from = performance.now();
    starting.startWorkers();
    await until(() => logged.some(({ message }) => message.includes('are up')), 60_000);
    console.log(`up ${(performance.now() - from).toFixed(0)} ms`);
    await starting.close();
  });

  test('logs the last lines of an `up` that failed', { timeout: 90_000 }, async () => {
    const failing = workers({ KEY: "it's; $HOME --fail" });
    failing.startWorkers();
    await until(() => logged.some(({ message }) => message.includes('ended FAILED')), 60_000);
    await failing.close();
    const lines = logged.find(({ lines }) => lines !== undefined)?.lines;
    expect(lines).toContain('NAMESPACE lattice');
    expect(lines).toContain(`"KEY=it's; $HOME --fail"]`);
  });
});
