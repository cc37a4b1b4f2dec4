import { expect, test } from 'vitest';
import { cluster, detailOf, logged, QUICK, startHead } from './cluster-under-test.js';
import { eventual, until } from '../../support/eventually.js';

test('the status is what the head says, with the jobs of this service', async () => {
  const head = await startHead();
  const memory = { memory: 1e9, 'node:10.0.0.1': 1 };
  head.nodes = [
    { NodeID: 'aa', Alive: true, Resources: { CPU: 4, GPU: 1, ...memory } },
    { NodeID: 'bb', Alive: true, Resources: { CPU: 2 } },
    { NodeID: 'cc', Alive: false, Resources: {} },
  ];
  head.total = { CPU: 6, GPU: 1, ...memory };
  // A GPU in use leaves no key behind.
  head.available = { CPU: 2.5, ...memory };
  const ray = cluster(head.address);
  await until(() => ray.connected());
  expect(await ray.status()).toEqual({
    clusterVersion: '2.60.0',
    clusterAlive: true,
    nodes: [
      { nodeId: 'aa', alive: true, resources: { CPU: 4, GPU: 1, ...memory } },
      { nodeId: 'bb', alive: true, resources: { CPU: 2, GPU: 0 } },
      { nodeId: 'cc', alive: false, resources: { CPU: 0, GPU: 0 } },
    ],
    totalCpus: 6,
    totalGpus: 1,
    availableCpus: 2.5,
    availableGpus: 0,
    pendingJobs: 4,
    runningJobs: 2,
    unanswered: [],
    pythonVersion: '3.11.7',
    namespace: 'blue',
  });
});

test('news reach the status at the next round', async () => {
  const head = await startHead();
  const ray = cluster(head.address);
  await until(() => ray.connected());
  head.nodes = [{ NodeID: 'aa', Alive: false, Resources: {} }];
  head.total = {};
  head.available = {};
  await new Promise((resolve) => setTimeout(resolve, 3 * QUICK.poll));
  expect(await ray.status()).toMatchObject({ clusterAlive: false, totalCpus: 0, availableGpus: 0 });
});

test('before the first session nothing is known', async () => {
  const head = await startHead();
  head.silent.add('PING');
  const ray = cluster(head.address);
  expect(ray.connected()).toBe(false);
  await expect(ray.status()).rejects.toMatchObject({ code: 'cluster_unavailable', status: 503 });
  expect(await detailOf(ray)).toBe(
    `The Ray cluster at ${head.address} gives no status: not connected yet.`,
  );
});

test('a question without an answer: the others are told, and which one is old', async () => {
  const head = await startHead();
  head.silent.add('AVAILABLE_RESOURCES');
  const ray = cluster(head.address);
  await until(() => ray.connected());
  expect(await ray.status()).toMatchObject({
    clusterAlive: true,
    totalCpus: 4,
    availableCpus: 0,
    unanswered: [{ question: 'available', ageSeconds: null }],
  });
  head.silent.clear();
  await eventual(async () => (await ray.status()).unanswered).toEqual([]);
  expect(await ray.status()).toMatchObject({ availableCpus: 3 });
});

test('a head that gives no list of nodes: the last one, said to be old', async () => {
  const head = await startHead();
  const ray = cluster(head.address);
  await until(() => ray.connected());
  head.silent.add('NODES');
  await until(() => !ray.connected());
  const { unanswered, ...known } = await ray.status();
  expect(known).toMatchObject({
    clusterAlive: false,
    nodes: [{ nodeId: 'aa', alive: true }],
    totalCpus: 4,
  });
  expect(unanswered).toEqual([{ question: 'nodes', ageSeconds: expect.any(Number) }]);
  expect(unanswered[0]!.ageSeconds).toBeGreaterThanOrEqual(5);
  head.silent.clear();
  await eventual(async () => (await ray.status()).unanswered).toEqual([]);
  expect(await ray.status()).toMatchObject({ clusterAlive: true });
  expect(head.clientIds).toHaveLength(1);
});

test('a head that answers nothing has no status after five seconds', async () => {
  const head = await startHead();
  const ray = cluster(head.address, { times: {} });
  await until(() => ray.connected());
  head.silence();
  const silentFrom = performance.now();
  expect(await ray.status()).toMatchObject({ totalCpus: 4 });
  await until(() => ray.fault() !== null);
  const took = performance.now() - silentFrom;
  expect(took).toBeGreaterThan(2_500);
  // The round in hand may end in the same moment.
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await detailOf(ray)).toBe(
    `The Ray cluster at ${head.address} gives no status: deadline, no answer within 3 s. ` +
      'It last ran Ray 2.60.0.',
  );
});

test('a head that dies and another that comes at its address', async () => {
  const head = await startHead();
  let connections = 0;
  const ray = cluster(head.address, { onNodes: () => (connections += 1) });
  await until(() => connections === 1);
  head.kill();
  await until(() => logged.some(({ reason }) => String(reason).startsWith('connection refused')));
  head.rayVersion = '2.61.0';
  await head.listen();
  await until(() => connections === 2);
  expect(await ray.status()).toMatchObject({ clusterVersion: '2.61.0' });
});
