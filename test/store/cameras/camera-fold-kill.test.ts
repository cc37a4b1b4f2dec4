/** The fold of the pictures of cameras while its process is killed: it ends as that of a run that is left alone. */
import { spawn } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import type { FindingNews } from '../../../src/store/job.js';
import { STORE_FILE } from '../../../src/store/data-folder.js';
import { TemporaryFolder } from '../../jobs/job-folder.js';
import { faultyDisk, type FaultyDisk } from '../../support/faulty-disk.js';
import { randomNumbers } from '../../support/random-numbers.js';
import { SyntheticCamera, type Fault } from '../../support/synthetic-camera.js';
import { DAY, halfHours, HOUR, LEARNT, RecordedCameras } from './recorded-cameras.js';
import { START } from './watched-pictures.js';

const CHILD = fileURLToPath(new URL('./fold-child.mjs', import.meta.url));
const KILLS = 50;
/** Kills at a call to the disk come after up to so many others of its kind, which lie within a few steps. */
const MOST_CALLS = { write: 110, sync: 4, synced: 4 };
/** The others come after up to so many lines of the child, and up to one and a half steps later. */
const MOST_LINES = 5;
const MOST_STEPS = 1.5;
const NIGHTLY = { sunrise: 6, sunset: 20, noise: 2 };
/** One fault a day, in the light, so that most steps have an event. */
const FAULTS: Fault[] = ['black', 'blur', 'bag', 'turn', 'black', 'bag', 'blur', 'black'];
const CAMERAS = Object.entries({
  'in/gate': new SyntheticCamera({ ...NIGHTLY, seed: 1, night: 0.5, traffic: 4 }),
  'in/yard': new SyntheticCamera({ ...NIGHTLY, seed: 2, night: 0.7, traffic: 8 }),
  'in/road': new SyntheticCamera({ ...NIGHTLY, seed: 3, night: 1, traffic: 2 }),
});
const LASTS = 5 * HOUR;
const END = LEARNT + FAULTS.length * DAY;
/** All are late then. */
const NOW = START + END + 2 * DAY;

/** Pictures of the cameras that no step has taken in, with a fault a day. Returns the number of the watch. */
async function queuePictures(dataDir: string): Promise<number> {
  await using cameras = await RecordedCameras.opened(true);
  const times = halfHours(0, END);
  for (let at = 0; at < times.length; at += 50) {
    const taken = CAMERAS.flatMap(([folder, camera], number) =>
      times.slice(at, at + 50).map((time) => {
        const since = time - LEARNT;
        const day = Math.floor(since / DAY) + number;
        const fault = since >= 0 && since % DAY < LASTS ? FAULTS[day % FAULTS.length]! : null;
        return { folder, picture: camera.picture(time, fault) };
      }),
    );
    await cameras.recordTaken(taken);
  }
  await cameras.store.close();
  cpSync(cameras.dataDir, dataDir, { recursive: true });
  return cameras.watch;
}

/** A kill after so many lines of the child and some milliseconds more, or by a disk that has its order. */
type Kill = { lines: number; delayMs: number } | FaultyDisk;

/** Runs the child until it is killed or done. */
async function fold(dataDir: string, watch: number, kill: Kill | null) {
  const child = spawn(process.execPath, [CHILD, dataDir, NOW, watch, START].map(String), {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: kill !== null && 'env' in kill ? { ...process.env, ...kill.env } : process.env,
  });
  let output = '';
  let isKilled = false;
  const linesAt: number[] = [];
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString();
    linesAt.push(performance.now());
    if (kill === null || 'env' in kill || isKilled) return;
    if (output.split('\n').length <= kill.lines) return;
    isKilled = true;
    // A timer is not exact enough to hit each part of a step.
    for (const end = performance.now() + kill.delayMs; performance.now() < end;);
    child.kill('SIGKILL');
  });
  const signal = await new Promise((resolve) => {
    child.once('close', (_, by) => {
      resolve(by);
    });
  });
  const lines = output.split('\n');
  const isDone = lines.includes('done');
  expect(isDone || signal === 'SIGKILL').toBe(true);
  const steps = lines.filter((line) => line === 'step').length;
  return { isDone, steps, stepMs: ((linesAt.at(-1) ?? 0) - (linesAt[1] ?? 0)) / steps };
}

/** All rows of cameras, all events and all webhooks, whose ids are random. */
function rowsOf(dataDir: string): Record<string, string[]> {
  const database = new DatabaseSync(join(dataDir, STORE_FILE));
  try {
    const tables = database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'camera_*'")
      .all() as { name: string }[];
    const names = [...tables.map(({ name }) => name), 'outbox', 'webhook_deliveries'];
    return Object.fromEntries(
      names.map((name) => {
        const rows = database.prepare(`SELECT * FROM ${name}`).all() as object[];
        return [name, rows.map((row) => JSON.stringify({ ...row, delivery_id: null })).sort()];
      }),
    );
  } finally {
    database.close();
  }
}

/** Changes at all cameras that the webhooks tell of, by the kind of a finding and by change. */
function told(rows: Record<string, string[]>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const row of rows.webhook_deliveries ?? []) {
    const { news } = JSON.parse(row) as { news: string | null };
    if (news === null) continue;
    const { kind = 'camera', change } = JSON.parse(news) as Partial<FindingNews>;
    counts[`${kind} ${change}`] = (counts[`${kind} ${change}`] ?? 0) + 1;
  }
  return counts;
}

test(`${KILLS} kills while pictures are folded lose and double nothing`, async () => {
  using queued = new TemporaryFolder();
  const watch = await queuePictures(queued.path);
  const fill = ({ path }: TemporaryFolder) => {
    rmSync(path, { recursive: true, force: true });
    cpSync(queued.path, path, { recursive: true });
  };
  using undisturbed = new TemporaryFolder();
  fill(undisturbed);
  const { steps, stepMs } = await fold(undisturbed.path, watch, null);
  const expected = rowsOf(undisturbed.path);
  expect(expected.camera_pictures).toEqual([]);
  expect(expected.camera_health).toHaveLength(3);
  expect(expected.camera_places).toHaveLength(3);
  const kinds = told(expected);
  // Findings begin and end between the kills.
  expect(kinds['covered opened']).toBeGreaterThan(9);
  expect(kinds).toMatchObject({ 'covered closed': kinds['covered opened'], 'late opened': 3 });

  const random = randomNumbers(7);
  const below = (most: number) => Math.floor(most * random());
  const nextKill = (disk: FaultyDisk | null): Kill => {
    const call = ([null, 'write', 'sync', 'synced'] as const)[below(4)] ?? null;
    if (call === null || disk === null) {
      return { lines: 1 + below(MOST_LINES), delayMs: MOST_STEPS * stepMs * random() };
    }
    disk.kill(call, below(MOST_CALLS[call]));
    return disk;
  };
  let [kills, rounds, begun] = [0, 0, 0];
  const killed = async () => {
    using folder = new TemporaryFolder();
    using disk = faultyDisk(folder.path);
    while (kills < KILLS) {
      fill(folder);
      rounds += 1;
      for (let isDone = false; !isDone;) {
        const run = await fold(folder.path, watch, kills < KILLS ? nextKill(disk) : null);
        ({ isDone } = run);
        begun += run.steps;
        if (!isDone) kills += 1;
      }
      expect(rowsOf(folder.path)).toEqual(expected);
    }
  };
  await Promise.all([killed(), killed()]);
  expect(begun).toBeGreaterThan(rounds * steps);
  console.log(
    `${kills} kills in ${rounds} rounds, ${begun} steps begun for ${rounds * steps}; ${JSON.stringify(kinds)}`,
  );
});
