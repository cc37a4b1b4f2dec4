/**
 * Against Ray heads that this test starts, freezes and kills. Set LATTICE_TEST_RAY_HEAD to a command that runs a head
 * in the foreground with its client server on 127.0.0.1:10001; run it in a network namespace of its own, because Ray
 * listens on every interface it finds. Without the setting nothing here runs.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RayCluster } from '../../src/cluster/ray/ray-cluster.js';
import { until } from '../cluster/ray/fake-ray-head.js';

const command = process.env.LATTICE_TEST_RAY_HEAD ?? '';
if (command === '')
  console.log('skipped: LATTICE_TEST_RAY_HEAD names no command that starts a Ray');

const beganAt = performance.now();
const log = (fields: object, message: string) => {
  const at = ((performance.now() - beganAt) / 1_000).toFixed(1);
  console.log(`${at} s: ${message} ${JSON.stringify(fields)}`);
};
const logger = { debug: log, info: log, warn: log, error: log };
const counts = () => Promise.resolve({ pending: 0, running: 0, queuedImages: 0 });

function startHead(): ChildProcess {
  return spawn('sh', ['-c', command], { detached: true, stdio: 'ignore' });
}

/** Ids of the processes beneath `pid`, it among them. */
function tree(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // Gone since the listing.
    }
  }
  const found = [pid];
  for (const one of found)
    for (const [child, parent] of parents) if (parent === one) found.push(child);
  return found;
}

async function killHead(head: ChildProcess): Promise<void> {
  const exit = once(head, 'exit');
  for (const pid of tree(head.pid!)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It went with its parent.
    }
  }
  await exit;
}

function storeOf(head: ChildProcess): number {
  const isStore = (pid: number) =>
    readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('gcs_server');
  const pid = tree(head.pid!).find(isStore);
  if (pid === undefined) throw new Error('no gcs_server beneath the head');
  return pid;
}

describe.skipIf(command === '')('the head of a real Ray', () => {
  let head: ChildProcess | null = null;
  let connections = 0;
  let ray: RayCluster;

  beforeAll(() => {
    ray = new RayCluster({
      address: 'ray://127.0.0.1:10001',
      namespace: 'lattice',
      tokenFile: '',
      jobs: { counts },
      logger,
      onNodes: () => (connections += 1),
    });
  });

  afterAll(async () => {
    await ray.close();
    if (head !== null) await killHead(head);
  });

  const refusal = () => ray.status().then(String, (error: unknown) => (error as Error).message);

  async function secondsUntil(condition: () => boolean, withinMs: number): Promise<number> {
    const from = performance.now();
    await until(condition, withinMs);
    return (performance.now() - from) / 1_000;
  }

  test('comes, freezes, goes on, dies and is replaced', { timeout: 240_000 }, async () => {
    expect(await refusal()).toMatch(/gives no status: /);
    head = startHead();
    console.log(
      `head started: status after ${await secondsUntil(() => ray.connected(), 60_000)} s`,
    );

    const store = storeOf(head);
    process.kill(store, 'SIGSTOP');
    const frozen = await secondsUntil(() => !ray.connected(), 10_000);
    await new Promise((resolve) => setTimeout(resolve, 200));
    console.log(`store frozen: no status after ${frozen} s: ${await refusal()}`);
    expect(frozen).toBeLessThan(5.5);
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    process.kill(store, 'SIGCONT');
    const thawed = await secondsUntil(() => ray.connected(), 60_000);
    console.log(`store goes on: status after ${thawed} s, session ${connections}`);

    await killHead(head);
    const killed = await secondsUntil(() => !ray.connected(), 10_000);
    console.log(`head killed: no status after ${killed} s: ${await refusal()}`);
    expect(killed).toBeLessThan(5.5);
    expect(await refusal()).toMatch(
      /connection refused, nothing listens there\. It last ran Ray 2/,
    );

    const before = connections;
    head = startHead();
    const back = await secondsUntil(() => ray.connected(), 90_000);
    console.log(`new head started: status after ${back} s, session ${connections}`);
    expect(connections).toBe(before + 1);
    expect(await ray.status()).toMatchObject({ clusterAlive: true });
  });
});
