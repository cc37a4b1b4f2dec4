/** Sessions with the head: how they begin, end and are replaced. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cluster, detailOf, logged, QUICK, releases, startHead } from './cluster-under-test.js';
import { freePort } from './fake-ray-head.js';
import { until } from '../../support/eventually.js';

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
  expect(head.cleanups).toBe(1);
  await until(() => head.sessions === 0);
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
  head.silence();
  const before = head.asked.length;
  await until(() => head.asked.slice(before).includes('NODES'));
  head.silent.clear();
  await new Promise((resolve) => setTimeout(resolve, 3 * QUICK.deadline));
  expect(head.clientIds).toHaveLength(1);

  head.silence();
  await until(() => logged.some(({ level }) => level === 'warn'));
  head.silent.clear();
  await until(() => logged.filter(({ message }) => message.endsWith('connected')).length === 2);
  expect(new Set(head.clientIds).size).toBe(2);
  expect(head.cleanups).toBeGreaterThanOrEqual(1);
});

test('a head that answers without its list of nodes keeps the session, for a time', async () => {
  const head = await startHead();
  const ray = cluster(head.address, { times: { ...QUICK, patience: 10 * QUICK.deadline } });
  await until(() => ray.connected());
  head.silent.add('NODES');
  const rounds = () => head.asked.filter((type) => type === 'NODES').length;
  const before = rounds();
  await until(() => rounds() >= before + 5);
  expect(head.clientIds).toHaveLength(1);
  await until(() => head.clientIds.length === 2);
  head.silent.clear();
  await until(() => logged.filter(({ message }) => message.endsWith('connected')).length === 2);
  expect(logged.map(({ reason }) => reason)).toContain(
    'the head answers, but gives no list of nodes within 0.15 s',
  );
});

test('a stream that the head ends is replaced by a new session', async () => {
  const head = await startHead();
  let connections = 0;
  const ray = cluster(head.address, { onNodes: () => (connections += 1) });
  await until(() => connections === 1);
  expect(ray.connected()).toBe(true);
  head.endStreams();
  await until(() => connections === 2);
  expect(new Set(head.clientIds).size).toBe(2);
});

test('a node that joins, or comes back, is told; one that stays or goes is not', async () => {
  const head = await startHead();
  let told = 0;
  const ray = cluster(head.address, { onNodes: () => (told += 1) });
  await until(() => told === 1);
  const rounds = async (count: number) => {
    const asked = head.asked.length;
    await until(() => head.asked.length >= asked + 3 * count);
  };
  const resources = { CPU: 1 };
  head.nodes = [...head.nodes, { NodeID: 'bb', Alive: true, Resources: resources }];
  await until(() => told === 2);
  head.nodes = head.nodes.map((node) => ({ ...node, Alive: node.NodeID !== 'bb' }));
  await rounds(3);
  expect(told).toBe(2);
  head.nodes = head.nodes.map((node) => ({ ...node, Alive: true }));
  await until(() => told === 3);
  await rounds(2);
  expect(told).toBe(3);
  expect((await ray.status()).nodes).toHaveLength(2);
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
  expect(performance.now() - from).toBeLessThan(question === 'PING' ? 3_000 : 5_000);
});

test('an answer that is not a list of nodes ends the session', async () => {
  const head = await startHead();
  head.nodes = [{ NodeID: 'aa' } as never];
  const ray = cluster(head.address);
  await until(() => head.clientIds.length >= 2);
  expect(await detailOf(ray)).toMatch(/session lost: the list of nodes cannot be read/);
});
