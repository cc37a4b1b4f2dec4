import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { RayCluster, type RayClusterOptions } from '../../../src/cluster/ray/ray-cluster.js';
import { FakeRayHead, freePort, until } from './fake-ray-head.js';

interface Logged {
  level: string;
  message: string;
  reason?: unknown;
}

const logged: Logged[] = [];
const log = (level: string) => (fields: object, message: string) => {
  logged.push({ level, message, ...fields });
};
const logger = { debug: log('debug'), info: log('info'), warn: log('warn') };

const releases: (() => unknown)[] = [];
afterEach(async () => {
  for (const release of releases.splice(0).reverse()) await release();
  logged.length = 0;
});

async function startHead(): Promise<FakeRayHead> {
  const head = await FakeRayHead.start();
  releases.push(() => {
    head.kill();
  });
  return head;
}

const QUICK = { poll: 100, deadline: 150, leastBackOff: 20, mostBackOff: 60, mostUnnoticed: 60 };

function cluster(address: string, options: Partial<RayClusterOptions> = {}): RayCluster {
  const made = new RayCluster({
    address,
    namespace: 'blue',
    tokenFile: '',
    jobs: { counts: () => Promise.resolve({ pending: 4, running: 2, queuedImages: 9 }) },
    logger,
    times: QUICK,
    ...options,
  });
  releases.push(() => made.close());
  return made;
}

const detailOf = (ray: RayCluster): Promise<string> =>
  ray.status().then(
    () => 'a status',
    (error: unknown) => (error as Error).message,
  );

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
    pythonVersion: '3.11.7',
  });
  expect([ray.version, ray.pythonVersion]).toEqual(['2.60.0', '3.11.7']);
});

test('it opens one session, pickles nothing and gives it back', async () => {
  const head = await startHead();
  const ray = cluster(head.address);
  await until(() => head.asked.filter((type) => type === 'NODES').length >= 3);
  await ray.close();
  expect(head.inits).toHaveLength(1);
  const [init] = head.inits;
  expect(init!.job_config).toHaveLength(0);
  expect(init!.reconnect_grace_period).toBe(0);
  expect(JSON.parse(init!.ray_init_kwargs)).toEqual({
    namespace: 'blue',
    _skip_env_hook: true,
    log_to_driver: false,
  });
  expect(head.clientIds[0]).toMatch(/^[0-9a-f]{32}$/);
  // The answers to init and connection_info.
  expect(head.acknowledged).toEqual([1, 3]);
  expect(head.cleanups).toBe(1);
  await until(() => head.sessions === 0);
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
  expect([ray.version, ray.pythonVersion, ray.connected()]).toEqual(['unknown', null, false]);
  await expect(ray.status()).rejects.toMatchObject({ code: 'cluster_unavailable', status: 503 });
  expect(await detailOf(ray)).toBe(
    `The Ray cluster at ${head.address} gives no status: not connected yet.`,
  );
});

test('a port where nothing listens is refused, and said once', async () => {
  const ray = cluster(`ray://127.0.0.1:${await freePort()}`);
  await until(() => logged.length >= 4);
  expect(await detailOf(ray)).toMatch(
    /gives no status: connection refused, nothing listens there\.$/,
  );
  expect(logged.filter(({ level }) => level === 'warn')).toHaveLength(1);
});

test.each([
  ['not the client', (socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ['unreachable: ', (socket: Socket) => socket.destroy()],
  ['deadline, no answer within 3 s', () => undefined],
])('a port of something else is said once: %s', async (reason, meet) => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    meet(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  releases.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const ray = cluster(`ray://127.0.0.1:${(server.address() as { port: number }).port}`);
  await until(() => logged.length >= (reason.startsWith('deadline') ? 1 : 4));
  expect(await detailOf(ray)).toContain(reason);
  expect(logged.filter(({ level }) => level === 'warn')).toHaveLength(1);
});

test('a name that no host has', async () => {
  const ray = cluster('ray://nosuchhost.invalid');
  await until(() => logged.length > 0);
  expect(await detailOf(ray)).toMatch(/: unreachable, the host's name cannot be resolved\.$/);
});

test('a session that cannot start says why, in the last line of the traceback', async () => {
  const head = await startHead();
  head.initFailure =
    'Traceback (most recent call last):\n  File "x.py", line 1\nValueError: no way\n';
  const ray = cluster(head.address);
  await until(() => head.inits.length >= 2);
  expect(await detailOf(ray)).toMatch(/: init failed: ValueError: no way\.$/);
  head.initFailure = null;
  await until(() => ray.connected());
});

test('the token is read again for every session', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lattice-token-'));
  releases.push(() => {
    rmSync(folder, { recursive: true });
  });
  const tokenFile = join(folder, 'token');
  const head = await startHead();
  head.token = 'right';
  const ray = cluster(head.address, { tokenFile });
  await until(() => logged.some(({ level }) => level === 'warn'));
  expect(await detailOf(ray)).toMatch(/LATTICE_RAY_TOKEN_FILE cannot be read: ENOENT\.$/);
  writeFileSync(tokenFile, 'two words');
  await until(() => logged.some(({ reason }) => String(reason).includes('one token and nothing')));
  writeFileSync(tokenFile, 'wrong\n');
  await until(() => logged.some(({ reason }) => String(reason).startsWith('unauthenticated')));
  expect(await detailOf(ray)).toMatch(
    /: unauthenticated, LATTICE_RAY_TOKEN_FILE must name a file with the cluster's token\.$/,
  );
  writeFileSync(tokenFile, 'right\n');
  await until(() => ray.connected());
});

test('one missed round is forgiven, two end the session', async () => {
  const head = await startHead();
  const ray = cluster(head.address);
  await until(() => ray.connected());
  head.silent.add('NODES');
  const before = head.asked.length;
  await until(() => head.asked.slice(before).includes('NODES'));
  head.silent.delete('NODES');
  await new Promise((resolve) => setTimeout(resolve, 3 * QUICK.deadline));
  expect(head.clientIds).toHaveLength(1);

  head.silent.add('NODES');
  await until(() => head.clientIds.length >= 2);
  head.silent.delete('NODES');
  await until(() => logged.filter(({ message }) => message.endsWith('connected')).length === 2);
  expect(new Set(head.clientIds).size).toBe(head.clientIds.length);
  expect(head.cleanups).toBeGreaterThanOrEqual(1);
});

test('a status older than five seconds is none', { timeout: 20_000 }, async () => {
  const head = await startHead();
  const ray = cluster(head.address, { times: {} });
  await until(() => ray.connected());
  head.silent.add('NODES');
  const silentFrom = performance.now();
  expect(await ray.status()).toMatchObject({ totalCpus: 4 });
  await until(() => !ray.connected());
  const took = performance.now() - silentFrom;
  expect(took).toBeGreaterThan(2_500);
  expect(took).toBeLessThan(5_500);
  // The round in hand may end in the same moment.
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await detailOf(ray)).toBe(
    `The Ray cluster at ${head.address} gives no status: deadline, no answer within 3 s. ` +
      'It last ran Ray 2.60.0.',
  );
});

test('a stream that the head ends is replaced by a new session', async () => {
  const head = await startHead();
  let connections = 0;
  const ray = cluster(head.address, { onConnected: () => (connections += 1) });
  await until(() => connections === 1);
  expect(ray.connected()).toBe(true);
  head.endStreams();
  await until(() => connections === 2);
  expect(new Set(head.clientIds).size).toBe(2);
});

test('a head that dies and another that comes at its address', async () => {
  const head = await startHead();
  let connections = 0;
  const ray = cluster(head.address, { onConnected: () => (connections += 1) });
  await until(() => connections === 1);
  head.kill();
  await until(() => logged.some(({ reason }) => String(reason).startsWith('connection refused')));
  head.rayVersion = '2.61.0';
  await head.listen();
  await until(() => connections === 2);
  expect(await ray.status()).toMatchObject({ clusterVersion: '2.61.0' });
});

test.each(['init', 'PING', 'NODES'] as const)('closing does not wait for %s', async (question) => {
  const head = await startHead();
  head.silent.add(question);
  const ray = cluster(head.address, { times: {} });
  await until(
    () => (question === 'init' ? head.inits.length : head.asked.indexOf(question) + 1) > 0,
  );
  const from = performance.now();
  await ray.close();
  expect(performance.now() - from).toBeLessThan(1_000);
});

test('an answer that is not a list of nodes ends the session', async () => {
  const head = await startHead();
  head.nodes = [{ NodeID: 'aa' } as never];
  const ray = cluster(head.address);
  await until(() => head.clientIds.length >= 2);
  expect(await detailOf(ray)).toMatch(/session lost: the list of nodes cannot be read/);
});
