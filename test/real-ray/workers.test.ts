/** The workers on a real Ray of two nodes with one (pretended) GPU each, with a stand-in for their program. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rayPython } from '../../scripts/python-environment.mjs';
import { startRay, type Ray } from '../../scripts/ray.mjs';
import { listenForWorkers, type WorkerConnections } from '../support/ray-connections.js';
import { eventual, HANG_MS } from '../support/eventually.js';
import { PROJECT_ROOT } from '../support/service-process.js';

const N2 = { name: 'n2', cpus: 1, gpus: 1 };
let ray: Ray;
let connections: WorkerConnections;
let usual: string[];

const print = (what: string, since: number) => {
  console.log(`${what}: ${(performance.now() - since).toFixed(0)} ms`);
};
const view = async (worker: string) => {
  const found = (await ray.workers()).find((each) => each.worker === worker);
  if (found === undefined) throw new Error(`${worker} is not listed`);
  return found;
};

beforeAll(async () => {
  const start = performance.now();
  ray = await startRay({ python: await rayPython(), nodes: [{ cpus: 2, gpus: 1 }, N2] });
  print('Ray with two nodes', start);
  connections = await listenForWorkers();
  const child = join(PROJECT_ROOT, 'test/support/ray-child.mjs');
  usual = [
    '--service',
    connections.url,
    '--command',
    `node ${child}`,
    '--env',
    'LATTICE_LOG_LEVEL=warn',
  ];
});

afterAll(async () => {
  await ray.stop();
  await connections.stop();
});

test('up starts a worker on each GPU with the id of its node', async () => {
  const start = performance.now();
  const up = ray.up(usual);
  const workers = await Promise.all(['worker-0', 'worker-1'].map((name) => connections.of(name)));
  print('up to both connections', start);
  await up;
  print('up', start);
  const nodes = new Set(workers.map(({ env }) => env.LATTICE_NODE_ID));
  expect(nodes).toEqual(new Set([ray.nodeId('head'), ray.nodeId('n2')]));
  for (const { worker, env, nice } of workers) {
    expect(env).toMatchObject({
      LATTICE_SERVICE_URL: connections.url,
      LATTICE_WORKER_ID: worker,
      LATTICE_DEVICE: 'cuda',
      LATTICE_THREADS: '1',
      LATTICE_LOG_LEVEL: 'warn',
      CUDA_VISIBLE_DEVICES: '0',
    });
    expect(env).not.toHaveProperty('OMP_NUM_THREADS');
    expect(nice).toBe(0);
  }
});

test('up again changes nothing', async () => {
  const before = connections.all.length;
  const start = performance.now();
  const output = await ray.up(usual);
  print('up again', start);
  expect(output).not.toMatch(/created|replaced|removed/);
  expect(connections.all).toHaveLength(before);
  expect(connections.open()).toHaveLength(2);
});

test.each(['worker-0', 'worker-1'])('a killed child of %s dials again', async (worker) => {
  const connection = await connections.of(worker);
  const start = performance.now();
  process.kill(connection.pid, 'SIGKILL');
  const next = await connections.of(worker, connection);
  print(`${worker}: child killed to connection`, start);
  expect(next.env.LATTICE_NODE_ID).toBe(connection.env.LATTICE_NODE_ID);
  expect(await view(worker)).toMatchObject({ state: 'running', restarts: 1, last_exit: -9 });
});

test('a killed actor ends its child, and both are restarted', async () => {
  const connection = await connections.of('worker-0');
  const actor = (await view('worker-0')).actor_pid!;
  const start = performance.now();
  process.kill(actor, 'SIGKILL');
  await connections.closed(connection);
  print('actor killed to child gone', start);
  await connections.of('worker-0', connection);
  print('actor killed to connection', start);
  expect((await view('worker-0')).actor_pid).not.toBe(actor);
});

test('a lost node closes the connection of its worker; the connection is back with the node', async () => {
  const lost = connections.open().find(({ env }) => env.LATTICE_NODE_ID === ray.nodeId('n2'))!;
  const kept = connections.open().find((connection) => connection !== lost)!;
  const start = performance.now();
  ray.killRaylet('n2');
  await connections.closed(lost);
  print('raylet killed to connection closed', start);
  await ray.waitForNodes(1);
  print('raylet killed to node dead', start);
  expect(await view(lost.worker)).toMatchObject({ state: 'pending' });
  expect(connections.open()).toEqual([kept]);
  await ray.kill('n2');
  const again = performance.now();
  await ray.addNode(N2);
  print('node back', again);
  const next = await connections.of(lost.worker, lost);
  print('node started to connection', again);
  expect(next.env.LATTICE_NODE_ID).toBe(ray.nodeId('n2'));
});

test('a changed setting replaces the workers one after the other', async () => {
  await Promise.all(['worker-0', 'worker-1'].map((name) => connections.of(name)));
  const before = new Set(connections.open());
  let fewest = Infinity;
  const watch = setInterval(() => (fewest = Math.min(fewest, connections.open().length)), 5);
  const start = performance.now();
  await ray.up([...usual, '--env', 'STAND_IN=2']);
  clearInterval(watch);
  print('two workers replaced', start);
  expect(fewest).toBe(1);
  expect(connections.open()).toHaveLength(2);
  for (const connection of connections.open()) {
    expect(before.has(connection)).toBe(false);
    expect(connection.env.STAND_IN).toBe('2');
  }
});

test('a child that dies at its start: given up, shown, and the other worker kept', async () => {
  const start = performance.now();
  const broken = [...usual, '--env', 'STAND_IN_FAULT=no model here'];
  const { code, stdout } = await ray.cli(['up', ...broken]);
  print('a bad configuration is given up', start);
  expect(code).toBe(1);
  expect(stdout).toContain('The other workers stay unchanged');
  expect(connections.open().map(({ worker }) => worker)).toEqual(['worker-1']);
  expect(await view('worker-0')).toMatchObject({
    state: 'crashloop',
    pid: null,
    restarts: 4,
    last_exit: 3,
    stderr: Array.from({ length: 5 }, () => 'no model here'),
  });
  const kept = await connections.of('worker-1');
  const output = await ray.up([...usual, '--env', 'STAND_IN=2']);
  expect(output).toContain('worker-0: replaced, running');
  expect(await connections.of('worker-1')).toBe(kept);
  expect(connections.open()).toHaveLength(2);
});

test('a child that dies after seconds: `up` fails, and once its folder is back `up` starts just that worker', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'lattice-stand-in-')), 'photos');
  const needing = ['--env', `STAND_IN_FOLDER=${folder}`, '--env', 'STAND_IN_FAULT_AFTER_MS=2500'];
  const options = [...usual, ...needing];
  const { code, stdout } = await ray.cli(['up', ...options, '--wait', '8']);
  expect(code, stdout).toBe(1);
  expect(stdout).toContain(`${folder} is not there`);
  // `up` does not wait for connections: on a busy machine one may come later.
  await eventual(() => connections.open().map(({ worker }) => worker)).toEqual(['worker-1']);
  const kept = await connections.of('worker-1');
  const deadline = Date.now() + HANG_MS;
  while ((await view('worker-0')).state !== 'crashloop') {
    expect(Date.now()).toBeLessThan(deadline);
    await sleep(500);
  }
  mkdirSync(folder);
  const output = await ray.up(options);
  expect(output).toContain('worker-0: replaced, running');
  expect(await connections.of('worker-1', kept)).toBeDefined();
  const before = await connections.of('worker-0');
  expect(await ray.up(options)).not.toMatch(/created|replaced|removed/);
  expect(await connections.of('worker-0')).toBe(before);
  await ray.up([...usual, '--env', 'STAND_IN=2']);
  rmSync(join(folder, '..'), { recursive: true });
});

test('workers of another service are not taken, unless asked for', async () => {
  const other = await listenForWorkers();
  const kept = connections.open();
  const options = ['--command', usual[3]!, '--service', other.url];
  const { code, stderr } = await ray.cli(['up', ...options]);
  expect(code).toBe(2);
  expect(stderr).toContain(`belong to the service at ${connections.url}: set`);
  expect(connections.open()).toEqual(kept);
  await ray.up([...options, '--take-over']);
  expect(other.open()).toHaveLength(2);
  await ray.up([...usual, '--env', 'STAND_IN=2', '--take-over']);
  expect(connections.open()).toHaveLength(2);
  await other.stop();
});

test('a worker whose GPU is lost is placed anew', async () => {
  const connection = await connections.of('worker-1');
  const actor = (await view('worker-1')).actor_pid!;
  const start = performance.now();
  connection.socket.send('69');
  await connections.of('worker-1', connection);
  print('GPU lost to connection', start);
  expect((await view('worker-1')).actor_pid).not.toBe(actor);
});

test('--restart replaces workers that need no change', async () => {
  const before = connections.open().map(({ pid }) => pid);
  await ray.up([...usual, '--env', 'STAND_IN=2', '--restart']);
  const after = connections.open().map(({ pid }) => pid);
  expect(after).toHaveLength(2);
  expect(after.filter((pid) => before.includes(pid))).toEqual([]);
});

test('fewer workers are wanted', async () => {
  const kept = await connections.of('worker-0');
  const output = await ray.up([...usual, '--env', 'STAND_IN=2', '--workers', '1']);
  expect(output).toContain('worker-1: removed');
  expect(connections.open()).toEqual([kept]);
});

test('a worker without a place waits for one and delays no other', async () => {
  const three = [...usual, '--env', 'STAND_IN=2', '--workers', '3', '--wait', '2'];
  const first = await ray.up(three);
  expect(first).toMatch(/worker-1: created\nworker-2: created/);
  expect(await view('worker-2')).toMatchObject({ state: 'pending', pid: null });
  const before = [await connections.of('worker-0'), await connections.of('worker-1')];
  const start = performance.now();
  expect(await ray.up(three)).not.toMatch(/created|replaced|removed/);
  print('up again with one waiting', start);
  expect([await connections.of('worker-0'), await connections.of('worker-1')]).toEqual(before);
  await ray.up([...usual, '--env', 'STAND_IN=2', '--workers', '1']);
  expect((await ray.workers()).map(({ worker }) => worker)).toEqual(['worker-0']);
});

test('namespaces are separate', async () => {
  expect(await ray.workers('other')).toEqual([]);
  expect(await ray.down(['--namespace', 'other'])).toBe('');
  expect(connections.open()).toHaveLength(1);
});

test('down drains and removes', async () => {
  const { pid } = await connections.of('worker-0');
  const start = performance.now();
  expect(await ray.down()).toBe('worker-0: removed\n');
  print('down', start);
  expect(existsSync(`/proc/${pid}`)).toBe(false);
  expect(await ray.workers()).toEqual([]);
  expect(await ray.down()).toBe('');
});

test('without GPUs: a node that is back gets the worker that moved to another', async () => {
  const cpus = [...usual, '--gpus-per-worker', '0'];
  const nodes = () => new Set(connections.open().map(({ env }) => env.LATTICE_NODE_ID));
  const both = new Set([ray.nodeId('head'), ray.nodeId('n2')]);
  await ray.up(cpus);
  expect(nodes()).toEqual(both);
  const lost = connections.open().find(({ env }) => env.LATTICE_NODE_ID === ray.nodeId('n2'))!;
  ray.killRaylet('n2');
  const moved = await connections.of(lost.worker, lost);
  expect(moved.env.LATTICE_NODE_ID).toBe(ray.nodeId('head'));
  await ray.kill('n2');
  await ray.addNode(N2);
  const output = await ray.up(cpus);
  expect(output.match(/replaced, running/g)).toHaveLength(1);
  expect(nodes()).toEqual(new Set([ray.nodeId('head'), ray.nodeId('n2')]));
  expect(await ray.up(cpus)).not.toMatch(/created|replaced|removed/);
  await ray.down();
});

test('without GPUs: a new worker is created on the node without one', async () => {
  const roomy = { name: 'n3', cpus: 4 };
  await ray.kill('n2');
  await ray.waitForNodes(1);
  await ray.addNode(roomy);
  const cpus = [...usual, '--gpus-per-worker', '0', '--cpus-per-worker', '1'];
  const nodes = () => connections.open().map(({ env }) => env.LATTICE_NODE_ID);
  await ray.up([...cpus, '--workers', '2']);
  expect(new Set(nodes())).toEqual(new Set([ray.nodeId('head'), ray.nodeId('n3')]));
  // Each node has room for both: only `up` knows which has none.
  for (let round = 0; round < 2; round += 1) {
    await ray.up([...cpus, '--workers', '1']);
    await ray.up([...cpus, '--workers', '2']);
    expect(new Set(nodes()).size).toBe(2);
  }
  await ray.kill('n3');
  await ray.waitForNodes(1);
  await ray.down();
  await ray.addNode(N2);
});

test('a lost head: the other node goes on, a new head takes the workers with up', async () => {
  await ray.up(usual);
  const [onHead, onN2] = ['head', 'n2'].map((name) =>
    connections.open().find(({ env }) => env.LATTICE_NODE_ID === ray.nodeId(name)),
  );
  await ray.kill('head');
  await connections.closed(onHead!);
  // A node that finds another head than its own ends soon: what counts is the time without one.
  await sleep(3_000);
  expect(connections.open().map(({ pid }) => pid)).toEqual([onN2!.pid]);
  const start = performance.now();
  await ray.addNode({ name: 'head', cpus: 2, gpus: 1 });
  print('head back', start);
  await ray.kill('n2');
  await ray.addNode(N2);
  expect(await ray.workers()).toEqual([]);
  await ray.up(usual);
  print('head started to up', start);
  expect(new Set(connections.open().map(({ env }) => env.LATTICE_NODE_ID))).toEqual(
    new Set([ray.nodeId('head'), ray.nodeId('n2')]),
  );
});

test.each([
  [['--service', 'http://h:8000'], 'write ws://HOST:PORT'],
  [['--service', 'ws://h', '--workers', 'many'], 'write a number or auto'],
  [['--service', 'ws://h', '--env', 'LATTICE_WORKER_TOKEN=x'], 'put the secret in a file'],
  [['--service', 'ws://h', '--env', 'PLAIN'], 'write KEY=VALUE'],
  [['--service', 'ws://h', '--gpus-per-worker', '2'], 'No node of the cluster has 2 GPU'],
  [['--service', 'ws://h', '--address', '127.0.0.1:1'], 'No Ray cluster at 127.0.0.1:1'],
  [['--service', 'ws://h', '--address', '127.0.0.1:8265'], 'No Ray cluster at 127.0.0.1:8265'],
])('up %j is refused', async (args, reason) => {
  const start = performance.now();
  const { code, stderr } = await ray.cli(['up', ...args]);
  print(`refusal of ${args.join(' ')}`, start);
  expect(stderr).toContain(reason);
  expect(code).toBe(2);
});
