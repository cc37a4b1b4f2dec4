/** `npm run bench:peers`: the service against other ways to serve the same ONNX, same photos, same client. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient } from './load/http-client.js';
import { closedLoop } from './load/loops.js';
import { median, summarise } from './load/percentiles.js';
import { serve, setting, type Setting } from './setting.js';
import { PROJECT_ROOT } from '../test/support/service-process.js';

const ROUNDS = 5;
const SECONDS = 4;
const PYTHON = join(PROJECT_ROOT, '.deps/peers/bin/python');

interface Contender {
  name: string;
  start(at: Setting): Promise<{ url: string; stop(): Promise<void> }>;
}

/** `auto` is the default. */
const ours = (precision: 'auto' | 'bf16', rectangles = ''): Contender => ({
  name: nameOf(precision, rectangles !== ''),
  async start(at) {
    const service = await serve(at, {
      LATTICE_PRECISION: precision,
      LATTICE_RECTANGLES: rectangles,
    });
    return { url: service.url, stop: () => service[Symbol.asyncDispose]() };
  },
});

const nameOf = (precision: 'auto' | 'bf16', rectangles: boolean) =>
  `lattice-core ${precision}${rectangles ? ', rectangles' : ''}`;

const python = (
  name: string,
  folder: string,
  args: (port: string) => string[],
  env: Record<string, string>,
): Contender => ({
  name,
  async start(at) {
    const port = String(await freePort());
    const child = spawn(PYTHON, args(port), {
      cwd: join(PROJECT_ROOT, 'bench/peers', folder),
      env: { ...process.env, MODEL: at.modelPath, ROOT: at.imageRoot, PORT: port, ...env },
      stdio: 'ignore',
      detached: true,
    });
    const stop = async () => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      await sleep(200);
    };
    return { url: `http://127.0.0.1:${port}`, stop };
  },
});

const uvicorn = (port: string) => [
  '-m',
  'uvicorn',
  'app:app',
  '--port',
  port,
  '--log-level',
  'error',
];

// The common shapes of photos: docs/rectangles.md.
const RECTANGLES = '640x384,640x448,640x480,384x640,448x640,480x640';

const CONTENDERS: Contender[] = [
  ours('auto'),
  ours('auto', RECTANGLES),
  ours('bf16'),
  ours('bf16', RECTANGLES),
  python('OpenVINO bf16 + OpenCV, FastAPI', 'openvino-fastapi', uvicorn, { PRECISION: 'bf16' }),
  python('OpenVINO f32 + OpenCV, FastAPI', 'openvino-fastapi', uvicorn, { PRECISION: 'f32' }),
  python('ONNX Runtime f32 + OpenCV, LitServe', 'litserve-onnxruntime', () => ['app.py'], {}),
];

interface Figures {
  p50: number[];
  perSecond: number[];
}

async function main(): Promise<void> {
  if (!existsSync(PYTHON)) {
    console.log('No peers are installed: see bench/peers/README.md.');
    return;
  }
  const at = setting();
  const figures = new Map<string, Figures>();
  for (let round = 0; round < ROUNDS; round += 1) {
    // The order is reversed in every second round, so that a drift of the machine favours no contender.
    const order = round % 2 === 0 ? CONTENDERS : [...CONTENDERS].reverse();
    for (const contender of order) await measure(contender, at, figures);
  }
  report(figures);
}

async function measure(
  contender: Contender,
  at: Setting,
  figures: Map<string, Figures>,
): Promise<void> {
  const server = await contender.start(at);
  const client = new HttpClient(server.url, 8);
  try {
    const detect = (turn: number) => client.detect(at.photos[turn % at.photos.length]);
    await answering(() => detect(0));
    await closedLoop(2, 1, (_, turn) => detect(turn));
    const lone = await closedLoop(1, SECONDS, (_, turn) => detect(turn));
    const eight = await closedLoop(8, SECONDS, (index, turn) => detect(index * 7 + turn));
    if (lone.failures + eight.failures > 0) throw new Error(`${contender.name}: requests failed`);
    const so = figures.get(contender.name) ?? { p50: [], perSecond: [] };
    so.p50.push(summarise(lone.latencies).p50);
    so.perSecond.push(eight.perSecond);
    figures.set(contender.name, so);
  } finally {
    client.close();
    await server.stop();
  }
}

function report(figures: Map<string, Figures>): void {
  const rows = [...figures].map(([name, each]) => ({
    name,
    'p50 ms, 1 client': Number(median(each.p50).toFixed(1)),
    'req/s, 8 clients': Number(median(each.perSecond).toFixed(1)),
    ...against(each, 'as it comes', figures.get(nameOf('auto', false))),
    ...against(each, 'with rectangles', figures.get(nameOf('auto', true))),
  }));
  console.table(rows);
  const versions = spawnSync(PYTHON, ['-m', 'pip', 'freeze'], { encoding: 'utf8' }).stdout;
  const folder = join(PROJECT_ROOT, 'bench/results');
  mkdirSync(folder, { recursive: true });
  const date = new Date().toISOString().slice(0, 10);
  const record = { date, command: 'npm run bench:peers', rows, versions: versions.split('\n') };
  writeFileSync(join(folder, `peers-${date}.json`), `${JSON.stringify(record, null, 2)}\n`);
}

function against(other: Figures, name: string, ours: Figures | undefined) {
  if (ours === undefined) return {};
  const ratio = (key: keyof Figures) => (median(ours[key]) / median(other[key])).toFixed(2);
  return {
    [`${name}: latency / this`]: ratio('p50'),
    [`${name}: req/s / this`]: ratio('perSecond'),
  };
}

async function answering(probe: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    try {
      await probe();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(200);
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
  });
}

await main();
