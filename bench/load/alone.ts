/** Decoding and the network each by themselves: the rate of images that need both is at most that of both together. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeImage, type CoreTask } from '../../src/native/core.js';
import {
  LIMITS,
  ON_TWO_THREADS,
  openBareCore,
  PLAIN_TASK,
  photoTask,
  type ComputeSetting,
  type Setting,
} from '../setting.js';
import { closedLoopFor } from './loops.js';

const WARM_SECONDS = 1;
const SECONDS = 2;
/** Photos whose shapes the network is given. */
const SHAPES = 32;

/** Images per second with so many in hand; `many`: as the network takes ahead, and the same again. */
export async function mostPerSecond(
  at: Setting,
  kind: 'sync' | 'async',
  inHand: number | 'many',
): Promise<number> {
  const { network, decode } = await ratesAlone(at, kind, inHand, ON_TWO_THREADS);
  // The same cores do both.
  return 1 / (1 / network + 1 / decode);
}

/** Images per second of each. */
export async function ratesAlone(
  at: Setting,
  kind: 'sync' | 'async',
  inHand: number | 'many',
  compute: ComputeSetting,
): Promise<{ network: number; decode: number }> {
  const { core, model } = await openBareCore(at, compute);
  const photos = at.photos.slice(0, SHAPES);
  const decodeMs: number[] = [];
  const tasks: CoreTask[] = [];
  for (const photo of photos) {
    const { timings } = await core.run(photoTask(model, photo, kind));
    decodeMs.push(timings.decode);
    const pixels = await decodeImage(await readFile(join(at.imageRoot, photo)), LIMITS);
    tasks.push({ ...PLAIN_TASK, modelId: model.modelId, kind, pixels });
  }
  const count = inHand === 'many' ? 2 * core.stats().lookAhead : inHand;
  const run = (turn: number) => core.run(tasks[turn % tasks.length]!);
  // The networks of images that come together are made with the first ones.
  await closedLoopFor(WARM_SECONDS, count, run);
  const network = await closedLoopFor(SECONDS, count, run);
  await core.close();
  if (network.failures > 0) throw new Error(`${network.failures} images failed`);
  const decode = (Math.min(count, compute.threads) * 1_000 * photos.length) / sumOf(decodeMs);
  return { network: network.perSecond, decode };
}

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
