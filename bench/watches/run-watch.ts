/** Files come into a watched folder while the service is killed, its clock jumps and the folder goes away. */
import { mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobList } from '../../src/client/records.js';
import { movedClock } from '../../test/support/moved-clock.js';
import { randomNumbers } from '../../test/support/random-numbers.js';
import { startService, type ServiceProcess } from '../../test/support/service-process.js';
import { Dropping, violationsOf } from './dropping.js';
import { MOST_PICTURES, numberOf } from './pictures.js';

export interface WatchRunOptions {
  files: number;
  seconds: number;
  kills: number;
  notices: boolean;
  seed: number;
  /** Where the watched folder is made; null: the folder for temporary files. */
  root: string | null;
  /** The same folder as the service sees it, such as a mount of it; null: `root` itself. */
  through: string | null;
}

const SETTLE_MS = 500;
const INTERVAL_MS = 2_000;
/** After so long a file was seen, also where the machine is busy. */
const SEEN_MS = INTERVAL_MS + SETTLE_MS + 10_000;
const QUIET_MS = 300_000;
const DAY_S = 86_400;
const FUSE = 0x65735546;

interface Call {
  status: number;
  // The answers of several routes.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}

export async function runWatch(options: WatchRunOptions) {
  const { files, seconds, kills, notices, seed } = options;
  if (2 * files > MOST_PICTURES) throw new Error(`At most ${MOST_PICTURES / 2} files.`);
  const folder = mkdtempSync(join(tmpdir(), 'lattice-watch-'));
  const images = mkdtempSync(join(options.root ?? folder, 'images-'));
  mkdirSync(join(images, 'in'));
  const seen = options.through === null ? images : join(options.through, basename(images));
  const keepsInodes = statfsSync(seen).type !== FUSE;
  const random = randomNumbers(seed);
  using clock = movedClock();
  const start = () =>
    startService({
      dataDir: join(folder, 'data'),
      env: {
        LATTICE_IMAGE_ROOTS: seen,
        LATTICE_WATCH_NOTICES: String(notices),
        LATTICE_MAX_QUEUED_JOBS: '100000',
        ...clock?.env,
      },
      timeoutMs: 120_000,
    });
  let service: ServiceProcess = await start();
  const call = async (path: string, method = 'GET', body?: object): Promise<Call> => {
    const init = { method, headers: { 'content-type': 'application/json' } };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(service.url + path, { ...init, ...text });
    return { status: response.status, body: await response.json() };
  };
  const began = performance.now();
  const dropping = new Dropping({
    folder: join(images, 'in'),
    files,
    overMs: seconds * 1_000,
    random,
  });
  try {
    const watch = {
      name: 'drop',
      paths: ['in'],
      job_type: 'batch_detect',
      settle_ms: SETTLE_MS,
      interval_ms: INTERVAL_MS,
      batch: { max_images: 20, max_wait_s: 0 },
    };
    const added = await call('/v1/watches', 'POST', watch);
    if (added.status !== 201) throw new Error(JSON.stringify(added.body));
    const idle: number[] = [];
    const looking = setInterval(() => {
      const at = performance.now();
      call('/v1/watches/drop').then(
        ({ body }) => {
          if (isIdle(body)) idle.push(at);
        },
        () => undefined,
      );
    }, 250).unref();
    const drops = { over: false };
    const dropped = dropping.run().then(() => (drops.over = true));
    let killed = 0;
    while (!drops.over || killed < kills) {
      await sleep((1_000 * seconds * (0.5 + random())) / kills);
      if (random() < 0.3 && !drops.over) await dropping.leave(1_000 + 2_000 * random());
      if (random() < 0.3) clock?.set(DAY_S * (3_650 * random() - 2));
      if (killed >= kills) continue;
      killed += 1;
      await service.kill('SIGKILL');
      service = await start();
    }
    await dropped;
    clearInterval(looking);
    clock?.set(0);
    const settled = await settle(call);
    const results = await resultsOf(call);
    const { body } = await call('/v1/watches/drop');
    return {
      violations: [
        ...settled,
        ...violationsOf(dropping.versions, results, idle, SEEN_MS, keepsInodes),
      ],
      ...options,
      keepsInodes,
      kills: killed,
      versions: dropping.versions.length,
      present: dropping.versions.filter(
        ({ endedAt, wholeAt }) => endedAt === null && wholeAt !== null,
      ).length,
      results: results.length,
      idleMoments: idle.length,
      acts: Object.fromEntries(dropping.counts),
      watch: { files: body.files, lastScan: body.last_scan, lag: body.lag_s },
      tookS: Math.round((performance.now() - began) / 1_000),
    };
  } finally {
    await service.kill('SIGKILL');
    rmSync(images, { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
  }
}

/** It sees its folders, and has nothing to do. */
function isIdle(body: Call['body']): boolean {
  const { waiting, pending } = body.files as { waiting: number; pending: number };
  return body.last_scan !== null && body.state === 'active' && waiting === 0 && pending === 0;
}

/** Until the watch has nothing to do for several scans. */
async function settle(call: (path: string) => Promise<Call>): Promise<string[]> {
  const end = performance.now() + QUIET_MS;
  let quiet = 0;
  while (quiet < 6) {
    const { body } = await call('/v1/watches/drop');
    quiet = isIdle(body) ? quiet + 1 : 0;
    if (performance.now() > end) return [`the watch did not come to rest: ${JSON.stringify(body)}`];
    await sleep(1_000);
  }
  return [];
}

/** Numbers of the pictures of all results. */
async function resultsOf(call: (path: string) => Promise<Call>): Promise<number[]> {
  const numbers: number[] = [];
  for (let cursor = ''; ;) {
    const list = (await call(`/v1/jobs?watch=drop&limit=100${cursor}`)).body as JobList;
    for (const { job_id } of list.jobs) {
      const { images } = (await call(`/v1/jobs/${job_id}/images?limit=100`)).body as {
        images: { image?: { width: number; height: number } }[];
      };
      for (const { image } of images) if (image) numbers.push(numberOf(image));
    }
    if (list.next_cursor === null) return numbers;
    cursor = `&cursor=${list.next_cursor}`;
  }
}
