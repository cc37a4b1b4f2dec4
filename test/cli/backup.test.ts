/**
 * `lattice backup` and `lattice restore` beside a real service under load, and with either of them killed in the midst.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStore } from '../../src/store/service-store.js';
import { call, DEMO, jobsEnded, resultOf, submit } from '../support/service-client.js';
import { PROJECT_ROOT, startService, type ServiceProcess } from '../support/service-process.js';
import { run } from './run.js';

/** None limits a test whose time the machine decides. */
const NO_LIMIT = 0;
const LOAD_EVERY_MS = 20;
const env = { LATTICE_IMAGE_ROOTS: DEMO, LATTICE_LOG_LEVEL: 'error' };

let folder: string;
let file: string;
let dataDir: string;
let restored: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-backup-'));
  file = join(folder, 'jobs.tar');
  dataDir = join(folder, 'data');
  restored = join(folder, 'restored');
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const serve = (place: string) => startService({ dataDir: place, env, timeoutMs: 600_000 });
const backup = (...more: string[]) => command('backup', file, '--data-dir', dataDir, ...more);

/** In a process of its own. */
function command(...args: string[]) {
  const child = spawn(process.execPath, ['dist/cli/lattice.js', ...args], { cwd: PROJECT_ROOT });
  let printed = '';
  child.stdout.on('data', (chunk) => (printed += String(chunk)));
  child.stderr.on('data', (chunk) => (printed += String(chunk)));
  const ended = once(child, 'close').then(([code, signal]) => ({
    code,
    signal,
    printed,
  })) as Promise<{
    code: number | null;
    signal: string | null;
    printed: string;
  }>;
  return { child, ended };
}

async function done(started: ReturnType<typeof command>): Promise<string> {
  const { code, printed } = await started.ended;
  expect(code, printed).toBe(0);
  return printed;
}

interface Load {
  /** Acknowledged jobs and when the acknowledgement came, in Unix milliseconds. */
  acknowledged: Map<string, number>;
  stop(): Promise<void>;
}

/** 50 submits a second, of which every fifth has a picture. They may fail once the service is killed. */
function loadOf(service: ServiceProcess): Load {
  const acknowledged = new Map<string, number>();
  const under: Promise<void>[] = [];
  let rounds = 0;
  const timer = setInterval(() => {
    rounds += 1;
    const image_paths = [rounds % 5 === 0 ? 'shapes.png' : 'absent.jpg'];
    const sent = submit(service.url, { image_paths }).then(
      (id) => void acknowledged.set(id, Date.now()),
      () => undefined,
    );
    under.push(sent);
  }, LOAD_EVERY_MS);
  return {
    acknowledged,
    stop: async () => {
      clearInterval(timer);
      await Promise.all(under);
    },
  };
}

async function moreThan(count: number, { acknowledged }: Load): Promise<void> {
  while (acknowledged.size <= count) await sleep(10);
}

/** When the jobs of a backup were read, of what the command printed. */
function momentOf(printed: string): number {
  const [, time = ''] = /as of (\S+) /.exec(printed) ?? [];
  return Date.parse(time);
}

/**
 * Every job that was acknowledged before the backup's moment is in the folder, no job that was never sent, and all end.
 */
async function expectAllBefore(moment: number, load: Load, place: string): Promise<void> {
  await using service = await serve(place);
  const before = [...load.acknowledged].filter(([, at]) => at < moment).map(([id]) => id);
  expect(before.length).toBeGreaterThan(0);
  for (const id of before) {
    expect((await call(service.url, `/v1/jobs/${id}/status`)).status, id).toBe(200);
  }
  while ((await call(service.url, '/v1/cluster/status')).body.pending_jobs > 0) await sleep(50);
  await jobsEnded(service.url);
  await submit(service.url);
}

test(
  'a backup under 50 submits per second has every job of before, with the same results',
  { timeout: NO_LIMIT },
  async () => {
    await using service = await serve(dataDir);
    const load = loadOf(service);
    await moreThan(100, load);
    const ids = [...load.acknowledged.keys()].slice(0, 50);
    const results = [];
    for (const id of ids) results.push(await resultOf(service.url, id));
    const started = Date.now();
    const moment = momentOf(await done(backup()));
    expect(moment).toBeGreaterThanOrEqual(started);
    const during = load.acknowledged.size;
    await moreThan(during + 20, load);
    await load.stop();
    await service.kill('SIGKILL');

    expect(await run('restore', file, '--check')).toMatchObject({ code: 0, err: '' });
    await done(command('restore', file, '--data-dir', restored));
    {
      await using again = await serve(restored);
      for (const [index, id] of ids.entries()) {
        expect((await call(again.url, `/v1/jobs/${id}/result`)).body).toEqual(results[index]);
      }
    }
    await expectAllBefore(moment, load, restored);
  },
);

/** Makes a backup long enough to be killed in the midst. */
function drawPictures(count: number): void {
  const drawn = join(dataDir, 'annotated');
  mkdirSync(drawn, { recursive: true });
  for (let index = 0; index < count; index += 1) {
    writeFileSync(
      join(drawn, `${String(index).padStart(32, '0')}.jpg`),
      Buffer.alloc(32_768, index),
    );
  }
}

const hasPart = () => readdirSync(folder).some((name) => name.startsWith('jobs.tar.part-'));

test(
  'a backup that is killed leaves the one before as it was, and the service at work',
  { timeout: NO_LIMIT },
  async () => {
    await using service = await serve(dataDir);
    drawPictures(300);
    const load = loadOf(service);
    await moreThan(10, load);
    await done(backup());
    const first = statSync(file);
    for (let round = 0; round < 6; round += 1) {
      const started = backup('--force');
      while (!hasPart() && started.child.exitCode === null) await sleep(1);
      await sleep(Math.random() * 150);
      started.child.kill('SIGKILL');
      const { signal } = await started.ended;
      if (signal !== null) expect(statSync(file).ino).toBe(first.ino);
      expect(await run('restore', file, '--check')).toMatchObject({ code: 0 });
      if (signal === null) renameSync(file, join(folder, 'jobs.tar.whole'));
      if (signal === null) await done(backup());
      Object.assign(first, statSync(file));
    }
    const moment = momentOf(await done(backup('--force')));
    expect(hasPart()).toBe(false);
    await load.stop();
    await service.kill('SIGKILL');
    await done(command('restore', file, '--data-dir', restored));
    expect(readdirSync(join(restored, 'annotated'))).toHaveLength(300);
    await expectAllBefore(moment, load, restored);
  },
);

test(
  'a service that is killed beside its backup loses nothing, and the backup is whole',
  { timeout: NO_LIMIT },
  async () => {
    for (let round = 0; round < 3; round += 1) {
      const service = await serve(dataDir);
      drawPictures(100);
      const load = loadOf(service);
      await moreThan(30, load);
      const started = backup('--force');
      while (!hasPart() && started.child.exitCode === null) await sleep(1);
      await sleep(Math.random() * 50);
      await service.kill('SIGKILL');
      const moment = momentOf(await done(started));
      await load.stop();
      rmSync(restored, { recursive: true, force: true });
      await done(command('restore', file, '--data-dir', restored));
      await expectAllBefore(moment, load, restored);
      await expectAllBefore(Infinity, load, dataDir);
    }
  },
);

test(
  'a restore that is killed deletes nothing, hides nothing behind an empty store, and can be repeated',
  { timeout: NO_LIMIT },
  async () => {
    let id: string;
    {
      await using service = await serve(dataDir);
      drawPictures(200);
      id = await submit(service.url);
      await resultOf(service.url, id);
    }
    await done(backup());
    const isThere = async (place: string) => {
      const store = await openStore(place);
      const job = await store.find(id, null).catch(() => null);
      await store.close();
      return job !== null;
    };
    let broken = 0;
    for (let round = 0; round < 6; round += 1) {
      const started = command('restore', file, '--data-dir', dataDir, '--force');
      const part = join(dataDir, 'restore.part');
      while (!existsSync(part) && started.child.exitCode === null) await sleep(1);
      await sleep(Math.random() * 400);
      started.child.kill('SIGKILL');
      if ((await started.ended).signal !== null) broken += 1;
      const stores = readdirSync(dataDir, { recursive: true }).map(String);
      expect(stores.filter((name) => name.endsWith('jobs.db')).length).toBeGreaterThan(0);
      if (existsSync(join(dataDir, 'jobs.db'))) expect(await isThere(dataDir)).toBe(true);
      else await expect(isThere(dataDir)).rejects.toThrow('was broken off');
    }
    console.log(`${broken} of 6 restores were killed in the midst`);
    await done(command('restore', file, '--data-dir', dataDir, '--force'));
    expect(existsSync(join(dataDir, 'restore.part'))).toBe(false);
    expect(await isThere(dataDir)).toBe(true);
    expect(readdirSync(join(dataDir, 'annotated'))).toHaveLength(200);
    const aside = readdirSync(dataDir).filter((name) => name.startsWith('replaced-'));
    const moved = aside.filter((name) => existsSync(join(dataDir, name, 'jobs.db')));
    expect(moved.length).toBeGreaterThan(0);
    // The store of the beginning is the first that was moved.
    expect(await isThere(join(dataDir, moved.sort()[0]!))).toBe(true);
  },
);

test(
  'the commands say what they did and what is wrong, in one line',
  { timeout: NO_LIMIT },
  async () => {
    {
      await using service = await serve(dataDir);
      await resultOf(service.url, await submit(service.url));
      const { out, code } = await run('backup', file, '--data-dir', dataDir);
      expect(code).toBe(0);
      expect(out).toMatch(
        /^\S+jobs\.tar: 1 job as of 20\S+Z \(0 not ended, 0 webhooks pending\), 0 pictures, 0\.\d MiB\.\n$/,
      );
      const again = await run('backup', file, '--data-dir', dataDir);
      expect(again).toMatchObject({ code: 1, out: '' });
      expect(again.err).toBe(`lattice: ${file} is already there. --force replaces it.\n`);
      const inUse = await run('restore', file, '--data-dir', dataDir, '--force');
      expect(inUse.code).toBe(1);
      expect(inUse.err).toContain(`is in use by process ${service.pid}. Stop that one`);
    }
    const checked = await run('restore', file, '--check');
    expect(checked.out).toMatch(/jobs\.tar is whole: 1 job as of /);
    const full = await run('restore', file, '--data-dir', dataDir);
    expect(full.err).toContain('has jobs already');
    const moved = await run('restore', file, '--data-dir', dataDir, '--force');
    expect(moved.out).toMatch(/\nWhat was there before lies in \S+replaced-\S+\.\n$/);
  },
);

test('Ctrl-C ends a backup in one line and leaves nothing', { timeout: NO_LIMIT }, async () => {
  {
    await using service = await serve(dataDir);
    await resultOf(service.url, await submit(service.url));
  }
  drawPictures(2000);
  const started = backup();
  while (!hasPart()) await sleep(1);
  started.child.kill('SIGINT');
  expect(await started.ended).toEqual({
    code: 130,
    signal: null,
    printed: 'The backup was stopped; nothing was kept.\n',
  });
  expect(readdirSync(folder)).toEqual(['data']);
});
