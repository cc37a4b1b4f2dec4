/** Worker processes with small programs in place of the worker. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { BackOff } from '../../../src/base/back-off.js';
import { RestartPolicy } from '../../../src/clusters/processes/restart-policy.js';
import {
  WorkerProcess,
  type WorkerProcessParts,
} from '../../../src/clusters/processes/worker-process.js';
import { until } from '../../support/eventually.js';

let logged: { message: string; reason?: string; workerPid?: number }[] = [];
let opened: WorkerProcess[] = [];
afterEach(async () => {
  await Promise.all(opened.map((each) => each.stop(0)));
  opened = [];
  logged = [];
});

function start(script: string, parts: Partial<WorkerProcessParts> = {}): WorkerProcess {
  const log = (fields: object, message: string) => logged.push({ ...fields, message });
  const worker = new WorkerProcess({
    workerId: 'cpu-0',
    command: [process.execPath, '-e', script],
    env: process.env,
    token: 'the-token',
    logger: { debug: log, info: log, warn: log, error: log },
    policy: new RestartPolicy(new BackOff(1, 5)),
    ...parts,
  });
  opened.push(worker);
  worker.start('ws://127.0.0.1:1');
  return worker;
}

const starts = () => logged.filter(({ message }) => message === 'worker process started');
const reasons = () => logged.flatMap(({ reason }) => reason ?? []);
const LIVES = 'setInterval(() => {}, 1e6);';

test('a worker process gets the token on standard input and the address in its environment', async () => {
  const echo =
    "process.stdin.once('data', (line) => { console.error(process.env.LATTICE_SERVICE_URL, String(line).trim()); process.exit(1); })";
  start(echo);
  await until(() => reasons().length > 0, 'its end');
  expect(reasons()[0]).toBe('ended with exit code 1: ws://127.0.0.1:1 the-token');
});

test.each([
  ["console.error('one'); console.error('no model'); process.exit(3)", 'exit code 3: no model'],
  ["process.kill(process.pid, 'SIGKILL')", 'ended with SIGKILL'],
])(
  'a program that ends at its start is started five times, then left out: %s',
  async (script, reason) => {
    const worker = start(script);
    await until(() => worker.failure !== null, 'left out');
    expect(worker.failure).toContain(reason);
    expect(starts()).toHaveLength(5);
    expect(logged.at(-1)!.message).toContain('is left out');
  },
);

test('a worker that was left out comes back when what it lacked is there again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lattice-worker-'));
  const needed = join(folder, 'model');
  const sign = join(folder, 'alive');
  try {
    const script = `const { copyFileSync } = require('node:fs');
      copyFileSync(${JSON.stringify(needed)}, ${JSON.stringify(sign)}); ${LIVES}`;
    const policy = new RestartPolicy(new BackOff(1, 5), new BackOff(100, 100));
    const worker = start(script, { policy });
    await until(() => worker.failure !== null, 'left out');
    expect(worker.failure).toContain('exit code 1');
    writeFileSync(needed, '');
    await until(() => existsSync(sign), 'it lives');
    expect(worker.failure).not.toBeNull();
    worker.joined();
    expect(worker.failure).toBeNull();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a missing program is left out with the reason', async () => {
  const worker = start('', { command: ['/nowhere/node'] });
  await until(() => worker.failure !== null, 'left out');
  expect(worker.failure).toContain('ENOENT');
});

test('a process that hangs is killed, even if stopped by a signal, and restarted', async () => {
  const worker = start(LIVES);
  worker.joined();
  const { workerPid } = starts()[0]!;
  process.kill(workerPid!, 'SIGSTOP');
  worker.kill('Silent too long.');
  await until(() => starts().length === 2, 'started again');
  expect(reasons()).toEqual(['killed: Silent too long.']);
  expect(starts()[1]!.workerPid).not.toBe(workerPid);
});

test('a process that does not connect in time is killed', async () => {
  start(LIVES, { joinWithinMs: 100 });
  await until(() => starts().length === 2, 'started again');
  expect(reasons()[0]).toContain('killed: It did not connect within 0.1 s.');
});

test('a stop lets the process end and kills it after the grace time', async () => {
  const polite = start(`process.on('SIGTERM', () => process.exit(0)); process.stdin.resume();`);
  const deaf = start(`process.on('SIGTERM', () => {}); ${LIVES}`);
  await until(() => starts().length === 2, 'started');
  // Time to install the handlers.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await polite.stop(3_600_000);
  await deaf.stop(100);
  expect(starts()).toHaveLength(2);
  await deaf.stop(100);
});

test('a stop ends the wait before the next start', async () => {
  const worker = start('process.exit(1)', {
    policy: new RestartPolicy(new BackOff(60_000, 60_000)),
  });
  await until(() => reasons().length === 2, 'it waits');
  await worker.stop(0);
});
