/** The cost of a shadow for the users of its alias. Bursts with and without it in turn, on one service. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { call, detect } from '../test/support/service-client.js';
import { PROJECT_ROOT, startService } from '../test/support/service-process.js';
import { summarise } from './load/percentiles.js';
import type { Measurement } from './setting.js';

const ROUNDS = 12;
const BURST_MS = 5_000;
/** More than the machine computes at a time. */
const CALLERS = 4;
/** For the second load: a caller that pauses so long after each answer. */
const PAUSE_MS = 150;
const ALIAS = 'depot.pt';

interface Load {
  callers: number;
  pauseMs: number;
}

export default async function shadow(): Promise<Measurement[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'lattice-shadow-'));
  const folder = join(scratch, 'models');
  mkdirSync(folder);
  for (const name of ['first', 'second']) {
    copyFileSync(join(PROJECT_ROOT, 'models/vehicles-v8n.onnx'), join(folder, `${name}.onnx`));
  }
  try {
    await using service = await startService({ env: { LATTICE_MODELS_DIR: folder } });
    const full = await compare(service.url, { callers: CALLERS, pauseMs: 0 });
    const light = await compare(service.url, { callers: 1, pauseMs: PAUSE_MS });
    return [
      ...rows(`full load, ${CALLERS} callers`, full, true),
      ...rows(`one caller with pauses of ${PAUSE_MS} ms`, light, false),
    ];
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Figures of the samples of all rounds: the rounds of both sides alternate, so the machine's changes meet both. */
function rows(what: string, { on, off, compared }: Compared, hasGoal: boolean): Measurement[] {
  const [beside, alone] = [summarise(on), summarise(off)];
  const figures = (['p50', 'p99'] as const).map((figure): Measurement => {
    const ratio = beside[figure] / alone[figure];
    return {
      what: `sync detect with a shadow, ${what}, ${figure} of ${beside.count}`,
      value: beside[figure],
      unit: 'ms',
      baseline: { what: `without, of ${alone.count}`, value: alone[figure] },
      ratio,
      ...(hasGoal && { goal: '<= 1.05', met: ratio <= 1.05 }),
    };
  });
  const seen = { what: `pictures that the shadow saw, ${what}`, value: compared, unit: 'images' };
  return [...figures, { ...seen, baseline: { what: 'answered', value: on.length } }];
}

interface Compared {
  on: number[];
  off: number[];
  compared: number;
}

async function compare(url: string, load: Load): Promise<Compared> {
  const all: Compared = { on: [], off: [], compared: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    const sides = [null, 'second.pt'];
    // Either side is the first one as often.
    for (const side of round % 2 === 0 ? sides : sides.reverse()) {
      const before = await put(url, side);
      await burst(url, load, 1_000);
      const samples = await burst(url, load, BURST_MS);
      (side === null ? all.off : all.on).push(...samples);
      if (side === null) continue;
      await sleep(1_000);
      all.compared += (await agreement(url)).images - before;
    }
  }
  return all;
}

/** Pictures that were compared before. */
async function put(url: string, shadowName: string | null): Promise<number> {
  const body = JSON.stringify({ model: 'first', shadow: shadowName });
  const headers = { 'content-type': 'application/json' };
  await call(url, `/v1/models/aliases/${ALIAS}`, { method: 'PUT', headers, body });
  return shadowName === null ? 0 : (await agreement(url)).images;
}

async function agreement(url: string): Promise<{ images: number }> {
  const { body } = await call(url, `/v1/models/aliases/${ALIAS}/agreement`);
  return body as unknown as { images: number };
}

async function burst(url: string, { callers, pauseMs }: Load, lasting: number): Promise<number[]> {
  const samples: number[] = [];
  const until = performance.now() + lasting;
  const caller = async () => {
    while (performance.now() < until) {
      const at = performance.now();
      const body = { model_name: ALIAS, classes: ['*'], image_path: 'street.jpg' };
      const { status } = await detect(url, body);
      if (status !== 200) throw new Error(`An answer of ${status}.`);
      samples.push(performance.now() - at);
      if (pauseMs > 0) await sleep(pauseMs);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return samples;
}
