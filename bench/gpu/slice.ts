/** A slice's stages: as the engine times them alone where it does, else from the timings of lone images. */
import type { NativeModel } from '../../src/native/contract.js';
import type { Core } from '../../src/native/core.js';
import { median } from '../load/percentiles.js';
import type { Plan } from './plan.js';
import { pixelTask } from './rig.js';

/** Milliseconds; null for what the engine does not report. */
export interface Slice {
  batch: number;
  networkMs: number;
  copyMs: number | null;
  letterboxMs: number;
  boxesMs: number;
  launchMs: number | null;
  emptyMs: number | null;
  /** From the first copy to the boxes. */
  sliceMs: number;
}

/** What of a core a slice is timed with. */
export type SliceCore = Pick<Core, 'run' | 'sliceTimes' | 'stats'>;

const BATCHES = [1, 2, 4, 8, 16, 32];

export async function timeSlice(
  core: SliceCore,
  model: NativeModel,
  batch: number,
  rounds: number,
): Promise<Slice> {
  const alone = await core.sliceTimes(model.modelId, batch, rounds);
  if (alone !== null) return alone;
  const stages = { preprocess: [0], inference: [0], postprocess: [0] };
  for (const samples of Object.values(stages)) samples.length = 0;
  for (let round = -1; round < rounds; round += 1) {
    const { timings } = await core.run(pixelTask(model, 'sync'));
    if (round < 0) continue;
    for (const [stage, samples] of Object.entries(stages)) {
      samples.push(timings[stage as keyof typeof stages]);
    }
  }
  const networkMs = median(stages.inference);
  const letterboxMs = median(stages.preprocess);
  const boxesMs = median(stages.postprocess);
  const sliceMs = letterboxMs + networkMs + boxesMs;
  return {
    batch: 1,
    networkMs,
    letterboxMs,
    boxesMs,
    sliceMs,
    copyMs: null,
    launchMs: null,
    emptyMs: null,
  };
}

/** One slice for each batch size that the engine has, smallest first. */
export async function timeSlices(
  core: SliceCore,
  model: NativeModel,
  rounds: number,
): Promise<Slice[]> {
  const slices = new Map<number, Slice>();
  const timed = (await core.sliceTimes(model.modelId, 1, 1)) !== null;
  for (const batch of timed ? BATCHES : [1]) {
    const slice = await timeSlice(core, model, batch, rounds);
    slices.set(slice.batch, slice);
  }
  return [...slices.values()];
}

/** Images a second of the bare network: slices end to end on every device, or on every sync slot of the CPU. */
export function replayRate(plan: Plan, core: SliceCore, slice: Slice): number {
  const beside = plan.device === 'cuda' ? plan.devices : core.stats().syncBatches;
  return (beside * slice.batch * 1_000) / slice.networkMs;
}

/** The fastest batch size. */
export function bestReplay(plan: Plan, core: SliceCore, slices: readonly Slice[]): number {
  return Math.max(...slices.map((slice) => replayRate(plan, core, slice)));
}
