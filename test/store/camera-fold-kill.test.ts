/** The fold of the pictures of cameras while its process is killed: it ends as that of a run that is left alone. */
import { spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import type { FindingNews } from '../../src/store/job.js';
import { STORE_FILE } from '../../src/store/data-folder.js';
import { TemporaryFolder } from '../jobs/job-folder.js';
import { randomNumbers } from '../support/random-numbers.js';
import { SyntheticCamera, type Fault } from '../support/synthetic-camera.js';
import { DAY, halfHours, HOUR, LEARNT, RecordedCameras, START } from './recorded-cameras.js';

const CHILD = fileURLToPath(new URL('./fold-child.mjs', import.meta.url));
const KILLS = 50;
/** The child is killed after one to so many of its lines. */
const MOST_LINES = 4;
/** The kill comes up to so much later, which is about as long as a step takes. */
const MOST_DELAY_MS = 8;
const NIGHTLY = { sunrise: 6, sunset: 20, noise: 2 };
const CAMERAS: Record<string, { camera: SyntheticCamera; faults: Fault[] }> = {
  'in/gate': {
    camera: new SyntheticCamera({ ...NIGHTLY, seed: 1, night: 0.5, traffic: 4 }),
    faults: ['black', 'blur'],
  },
  'in/yard': {
    camera: new SyntheticCamera({ ...NIGHTLY, seed: 2, night: 0.7, traffic: 8 }),
    faults: ['turn', 'bag'],
  },
  'in/road': {
    camera: new SyntheticCamera({ ...NIGHTLY, seed: 3, night: 1, traffic: 2 }),
    faults: ['bag', 'turn'],
  },
};
/** One fault a day, in the light. */
const FAULT = 5 * HOUR;
const END = LEARNT + 2 * DAY;
/** All are late then. */
const NOW = START + END + 2 * DAY;

/** Pictures of the cameras that no step has taken in, with two faults each. Returns the number of the watch. */
async function queuePictures(dataDir: string): Promise<number> {
  await using cameras = await RecordedCameras.open();
  const times = halfHours(0, END);
  for (let at = 0; at < times.length; at += 50) {
    const taken = Object.entries(CAMERAS).flatMap(([folder, { camera, faults }]) =>
      times.slice(at, at + 50).map((time) => {
        const since = time - LEARNT;
        const isFault = since >= 0 && since % DAY < FAULT;
        const fault = isFault ? faults[Math.floor(since / DAY)]! : null;
        return { folder, picture: camera.picture(time, fault) };
      }),
    );
    await cameras.recordTaken(taken);
  }
  await cameras.store.close();
  cpSync(cameras.dataDir, dataDir, { recursive: true });
  return cameras.watch;
}

interface Kill {
  /** Lines that the child has printed before. */
  lines: number;
  delayMs: number;
}

/** Runs the child until it is killed or done. */
async function fold(dataDir: string, watch: number, kill: Kill | null) {
  const args = [CHILD, dataDir, NOW, watch, START].map(String);
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  let isKilled = false;
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString();
    if (kill === null || isKilled || output.split('\n').length <= kill.lines) return;
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
  return { isDone, steps: lines.filter((line) => line === 'step').length };
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

/** Findings of all cameras that the webhooks tell of, by kind and change. */
function told(rows: Record<string, string[]>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const row of rows.webhook_deliveries ?? []) {
    const { finding } = JSON.parse(row) as { finding: string | null };
    if (finding === null) continue;
    const { kind, change } = JSON.parse(finding) as FindingNews;
    counts[`${kind} ${change}`] = (counts[`${kind} ${change}`] ?? 0) + 1;
  }
  return counts;
}

test(`${KILLS} kills while pictures are folded lose and double nothing`, async () => {
  using queued = new TemporaryFolder();
  const watch = await queuePictures(queued.path);
  const copied = () => {
    const folder = new TemporaryFolder();
    cpSync(queued.path, folder.path, { recursive: true });
    return folder;
  };
  using undisturbed = copied();
  const { steps } = await fold(undisturbed.path, watch, null);
  const expected = rowsOf(undisturbed.path);
  expect(expected.camera_pictures).toEqual([]);
  expect(expected.camera_health).toHaveLength(3);
  const kinds = told(expected);
  // Findings begin and end between the kills.
  expect(kinds).toMatchObject({ 'covered opened': 3, 'covered closed': 3, 'late opened': 3 });

  const random = randomNumbers(7);
  let [kills, rounds, begun] = [0, 0, 0];
  const killed = async () => {
    while (kills < KILLS) {
      using folder = copied();
      rounds += 1;
      for (let isDone = false; !isDone;) {
        const lines = 1 + Math.floor(MOST_LINES * random());
        const kill = kills < KILLS ? { lines, delayMs: MOST_DELAY_MS * random() } : null;
        const run = await fold(folder.path, watch, kill);
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
