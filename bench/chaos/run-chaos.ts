/** A chaos run: load, faults, then quiet, then the check of what was seen. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { faultyDisk } from '../../test/support/faulty-disk.js';
import { movedClock } from '../../test/support/moved-clock.js';
import { randomNumbers } from '../../test/support/random-numbers.js';
import { PICTURE, writeEnlarged } from '../../test/support/service-client.js';
import { LatticeClient } from '../../src/client/lattice-client.js';
import { endOf, follow, insist, load, startReceivers } from './clients.js';
import { violationsOf, type History } from './history.js';
import { Nemesis } from './nemesis.js';

const QUIET_MS = 120_000;
/** Fewer acknowledged jobs show nothing: on a busy machine, where starts are slow, the faults go on for them. */
const LEAST_JOBS = 6;
const MOST_MORE_MS = 300_000;
const IMAGES = ['good.png', 'double.png', 'large.png', 'text.png', 'absent.png'];

export async function runChaos({ seconds, seed }: { seconds: number; seed: number }) {
  const folder = mkdtempSync(join(tmpdir(), 'lattice-chaos-'));
  const imageRoot = join(folder, 'images');
  const dataDir = join(folder, 'data');
  mkdirSync(imageRoot);
  copyFileSync(PICTURE, join(imageRoot, 'good.png'));
  await writeEnlarged(join(imageRoot, 'double.png'), 2);
  await writeEnlarged(join(imageRoot, 'large.png'), 4);
  writeFileSync(join(imageRoot, 'text.png'), 'no picture');
  const history: History = {
    operations: [],
    followed: [],
    replayed: [],
    webhooks: new Set(),
    ends: new Map(),
    reference: new Map(),
    unexpected: [],
  };
  using disk = faultyDisk(dataDir);
  using clock = movedClock();
  const unexpected = (what: string) => history.unexpected.push(what);
  const random = randomNumbers(seed);
  const receivers = await startReceivers(history, randomNumbers(seed + 1));
  const nemesis = await Nemesis.begin({ dataDir, imageRoot, disk, clock, random, unexpected });
  const service = new LatticeClient({ url: nemesis.url });
  try {
    await readReference(service, history);
    const quiet = new AbortController();
    const following = follow(service, history.followed, quiet.signal);
    const end = performance.now() + seconds * 1_000;
    const moreMs = () => (acknowledgedOf(history).length < LEAST_JOBS ? MOST_MORE_MS : 0);
    const isOver = () => performance.now() >= end + moreMs();
    await Promise.all([
      nemesis.disturb(isOver),
      load(service, IMAGES, receivers.byName, history, randomNumbers(seed + 2), isOver),
    ]);
    receivers.heal();
    await settle(service, history);
    // The last events are on their way.
    await sleep(1_000);
    quiet.abort();
    await following;
    const newest = history.followed.at(-1)?.seq ?? 0;
    await follow(service, history.replayed, AbortSignal.timeout(QUIET_MS), newest);
  } finally {
    await nemesis.stop();
    for (const receiver of receivers.byName.values()) await receiver[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  }
  const acknowledged = acknowledgedOf(history);
  return {
    violations: violationsOf(history),
    seed,
    seconds,
    acknowledged: acknowledged.length,
    images: acknowledged.reduce((sum, { paths }) => sum + paths.length, 0),
    events: history.replayed.length,
    webhooks: history.webhooks.size,
    faults: Object.fromEntries(nemesis.faults),
    longestRestartMs: Math.round(Math.max(0, ...nemesis.restarts)),
  };
}

function acknowledgedOf({ operations }: History) {
  return operations.filter(({ jobId }) => jobId !== null);
}

async function readReference(service: LatticeClient, { reference }: History): Promise<void> {
  const { job_id } = await service.submit({ job_type: 'batch_detect', image_paths: IMAGES });
  const end = await endOf(service, job_id, 60_000);
  for (const [index, image] of (end?.images ?? []).entries()) reference.set(IMAGES[index]!, image);
  if (reference.size !== IMAGES.length) throw new Error('The undisturbed run gave no result.');
}

/** Reads the end of every job, and sends the webhooks that did not arrive again: their next attempt is minutes away. */
async function settle(service: LatticeClient, history: History): Promise<void> {
  const until = performance.now() + QUIET_MS;
  const jobs = history.operations.flatMap(({ jobId, receiver }) =>
    jobId === null ? [] : [{ id: jobId, sends: receiver !== null }],
  );
  for (const { id } of jobs) {
    const end = await endOf(service, id, Math.max(1_000, until - performance.now()));
    if (end !== null) history.ends.set(id, end);
  }
  const missing = () => jobs.filter(({ id, sends }) => sends && !history.webhooks.has(id));
  for (const { id } of missing()) await insist(() => service.redeliver(id), 10_000);
  while (missing().length > 0 && performance.now() < until) await sleep(100);
}
