/** The cost of a worker: the dispatcher alone, the socket, its bytes, and the state of a large cluster. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseRayAddress } from '../src/clusters/ray/ray-address.js';
import { RaySession } from '../src/clusters/ray/ray-session.js';
import { takeSnapshot } from '../src/clusters/ray/ray-snapshot.js';
import type { Detector } from '../src/execution/detector.js';
import type { Executor } from '../src/execution/executor.js';
import { packageVersion } from '../src/base/package.js';
import { PROJECT_ROOT } from '../test/support/service-process.js';
import { overWorkers, SimulatedWorker } from '../test/support/simulated-worker.js';
import { startWorkerProcess } from '../test/support/worker-process.js';
import { until } from '../test/support/eventually.js';
import { BUILD, openWorkerRig } from '../test/support/worker-rig.js';
import { CountingRelay } from './load/counting-relay.js';
import { HttpClient } from './load/http-client.js';
import { median, summarise } from './load/percentiles.js';
import { serve, setting, settingsOf, type Measurement } from './setting.js';
import { DEFAULT_PARAMETERS } from '../src/api/options.js';

const WORKERS = 16;
const WORKER_COUNTS = [1, 256, 1_000];
const NODES = 1_000;
const QUESTIONS = 100;
const IMAGES = 200_000;
const WINDOW = 256;
const SYNC_BLOCKS = 12;
const SYNC_BLOCK = 25;
const JOB_IMAGES = 10_000;

export default async function cluster(): Promise<Measurement[]> {
  return [
    await dispatcherAlone(),
    ...(await dispatcherCost()),
    ...(await overSocket()),
    ...(await bytesPerImage()),
    ...(await statusOfManyNodes()),
    ...(await jobOverSocket()),
    ...(await syncThroughWorker()),
  ];
}

const options = { modelName: 'yolov8n.pt', ...DEFAULT_PARAMETERS, classes: null };

/** Images per second with `WINDOW` images in flight. */
async function rate(detector: Pick<Detector, 'detect'>, images: number): Promise<number> {
  let left = images;
  const start = performance.now();
  const feed = async () => {
    while (left > 0) {
      left -= 1;
      await detector.detect({ path: 'street.jpg', kind: 'async', priority: left % 11, options });
    }
  };
  await Promise.all(Array.from({ length: WINDOW }, feed));
  return (images * 1_000) / (performance.now() - start);
}

function overIdleWorkers(count: number): Executor {
  const options = { slots: { sync: 8, async: 8 }, serviceMs: 0, keeps: false };
  const named = (_: unknown, index: number) => new SimulatedWorker(`${index}`, options);
  return overWorkers(Array.from({ length: count }, named));
}

async function dispatcherAlone(): Promise<Measurement> {
  const detector = overIdleWorkers(WORKERS);
  await rate(detector, IMAGES / 10);
  const value = await rate(detector, IMAGES);
  return {
    what: `no-op images through the executor, ${WORKERS} workers`,
    value,
    unit: 'images/s',
    goal: '>= 20,000',
    met: value >= 20_000,
  };
}

/** Microseconds of CPU time of this process in `work`. */
async function cpuTime(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

async function dispatcherCost(): Promise<Measurement[]> {
  const rows: Measurement[] = [];
  for (const count of WORKER_COUNTS) {
    const detector = overIdleWorkers(count);
    await rate(detector, IMAGES / 10);
    const value = (await cpuTime(() => rate(detector, IMAGES))) / IMAGES;
    rows.push({
      what: `CPU time of queue and choice per image, ${count} workers`,
      value,
      unit: 'us',
    });
  }
  return rows;
}

/** A worker without work in a process of its own: the cost of an image beyond HTTP and the store. */
async function overSocket(): Promise<Measurement[]> {
  const rig = await openWorkerRig();
  const worker = startInstantWorker(rig.server.url, BUILD);
  try {
    await until(() => rig.detector.workers().length === 1, 'a worker');
    await rate(rig.detector, 5_000);
    const images = 50_000;
    let value = 0;
    const cpu = await cpuTime(async () => (value = await rate(rig.detector, images)));
    const single: number[] = [];
    for (let round = 0; round < 2_000; round += 1) {
      const start = performance.now();
      await rig.detector.detect({ path: 'street.jpg', kind: 'sync', options });
      single.push(performance.now() - start);
    }
    return [
      { what: 'no-op images over one socket, 8 in the air', value, unit: 'images/s' },
      {
        what: 'CPU time of the service for each of them',
        value: cpu / images,
        unit: 'us',
      },
      {
        what: 'round trip of one no-op image over a socket, p50',
        value: summarise(single).p50,
        unit: 'ms',
      },
    ];
  } finally {
    worker.kill('SIGKILL');
    await rig.close();
  }
}

/** The bytes between service and worker per image: a path of ten letters there, one box back. */
async function bytesPerImage(): Promise<Measurement[]> {
  const rig = await openWorkerRig();
  const relay = await CountingRelay.to(Number(new URL(rig.server.url).port));
  const worker = startInstantWorker(relay.url, BUILD);
  try {
    await until(() => rig.detector.workers().length === 1, 'a worker');
    const [sent, received] = [relay.toTarget, relay.fromTarget];
    const images = 20_000;
    await rate(rig.detector, images);
    const row = (what: string, bytes: number) => ({ what, value: bytes / images, unit: 'B' });
    return [
      row('bytes to a worker per image, path of 10 letters', relay.fromTarget - received),
      row('bytes from a worker per image, one box', relay.toTarget - sent),
    ];
  } finally {
    worker.kill('SIGKILL');
    relay.close();
    await rig.close();
  }
}

/** The calls of the service every two seconds: three questions to the head of a cluster. */
async function statusOfManyNodes(): Promise<Measurement[]> {
  const head = spawn(
    process.execPath,
    ['--import', 'tsx', fileURLToPath(new URL('load/ray-head.ts', import.meta.url)), `${NODES}`],
    { cwd: PROJECT_ROOT, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  try {
    const [address] = (await once(head.stdout, 'data')) as [Buffer];
    const session = await RaySession.open({
      address: parseRayAddress(String(address).trim()),
      namespace: 'bench',
      token: null,
      signal: new AbortController().signal,
    });
    const ask = async () => {
      const nodes = (await takeSnapshot(session, 5_000)).nodes?.value ?? [];
      if (nodes.length !== NODES) throw new Error(`${nodes.length} nodes`);
    };
    for (let round = 0; round < QUESTIONS / 5; round += 1) await ask();
    const cpu = await cpuTime(async () => {
      for (let round = 0; round < QUESTIONS; round += 1) await ask();
    });
    await session.close();
    const what = `CPU time per question for the state of ${NODES} nodes of Ray`;
    return [{ what, value: cpu / QUESTIONS / 1_000, unit: 'ms' }];
  } finally {
    head.kill('SIGKILL');
  }
}

function startInstantWorker(url: string, build: string): ChildProcess {
  const script = fileURLToPath(new URL('load/instant-worker.ts', import.meta.url));
  const args = ['--import', 'tsx', script, url.replace('http', 'ws'), build];
  return spawn(process.execPath, args, { cwd: PROJECT_ROOT, stdio: 'ignore' });
}

/** The whole service, as images of a durable job go through it: store, order, lease, socket, result. */
async function jobOverSocket(): Promise<Measurement[]> {
  await using service = await serve(setting(), { LATTICE_RAY_ADDRESS: 'ray://127.0.0.1:1' });
  const worker = startInstantWorker(service.url, packageVersion());
  const client = new HttpClient(service.url, 1);
  try {
    await ready(client);
    const paths = Array.from({ length: JOB_IMAGES }, () => 'street.jpg');
    const job = () => client.runJob(paths);
    await job();
    const before = cpuSeconds(service.pid);
    const value = await job();
    return [
      { what: `images of a durable job over one socket, no-op worker`, value, unit: 'images/s' },
      {
        what: 'CPU time of the whole service for each of them',
        value: ((cpuSeconds(service.pid) - before) / JOB_IMAGES) * 1e6,
        unit: 'us',
      },
    ];
  } finally {
    client.close();
    worker.kill('SIGKILL');
  }
}

/** User and system time of a process so far. Fields 14 and 15 of /proc/PID/stat, in hundredths. */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** The same photo over HTTP, alternately to a service that runs it itself and to one whose worker runs it. */
async function syncThroughWorker(): Promise<Measurement[]> {
  const at = setting();
  await using embedded = await serve(at);
  await using service = await serve(at, { LATTICE_RAY_ADDRESS: 'ray://127.0.0.1:1' });
  const worker = startWorkerProcess({
    LATTICE_SERVICE_URL: service.url.replace('http', 'ws'),
    ...settingsOf(at),
    LATTICE_JOBS_YIELD: 'true',
  });
  const clients = [new HttpClient(embedded.url, 1), new HttpClient(service.url, 1)] as const;
  try {
    await ready(clients[1]);
    const times: [number[], number[]] = [[], []];
    for (let block = -1; block < SYNC_BLOCKS; block += 1) {
      // In blocks: a side that sleeps during every second call would be measured while it wakes up.
      for (const side of [0, 1] as const) {
        for (let turn = 0; turn < SYNC_BLOCK; turn += 1) {
          const photo = at.photos[(turn + SYNC_BLOCK * (block + 1)) % at.photos.length]!;
          const ms = await clients[side].detect(photo);
          if (block >= 0) times[side].push(ms);
        }
      }
    }
    const [own, remote] = [summarise(times[0]).p50, summarise(times[1]).p50];
    // Per photo: photos differ far more from each other.
    const more = median(times[1].map((ms, i) => ms - times[0][i]!));
    return [
      {
        what: 'sync detect over HTTP through a worker, p50',
        value: remote,
        unit: 'ms',
        baseline: { what: 'embedded, p50', value: own },
        ratio: more,
        goal: '<= 1 ms more',
        met: more <= 1,
      },
    ];
  } finally {
    for (const client of clients) client.close();
    worker.kill('SIGKILL');
    await worker.exited;
  }
}

async function ready(client: HttpClient): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if ((await client.send('GET', '/readyz')).status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('The worker did not join.');
}
