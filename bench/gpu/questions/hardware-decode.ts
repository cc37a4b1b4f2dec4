/** How many photos per second does the CPU decode, alone and with the GPU's JPEG engines? Measured alternately. */
import { median } from '../../load/percentiles.js';
import { against, type Answer, type Figure } from '../answer.js';
import type { Plan } from '../plan.js';
import {
  imagesPerSecond,
  loadWhole,
  openRig,
  photoTask,
  runImages,
  stretchOf,
  type Rig,
} from '../rig.js';

const TOGETHER_GOAL = { atLeast: 1.3 };
const GOAL_CORES = 16;
/** Large photos cost more: as many pixels each round as this size has. */
const LEVEL_MEGAPIXELS = 0.9;

interface Way {
  name: string;
  hardwareDecode: boolean;
  /** Images/s of each round, by photo size. */
  rates: number[][];
  /** Share of the images that the JPEG engines decoded, in the last round. */
  hardwareShare: number;
}

export default async function hardwareDecodeQuestion(plan: Plan): Promise<Answer> {
  const way = (name: string, hardwareDecode: boolean): Way => ({
    name,
    hardwareDecode,
    rates: plan.photos.map(() => []),
    hardwareShare: 0,
  });
  const alone = way('CPU', false);
  const together = way('CPU and JPEG engines', true);
  let missing: string | null = null;
  for (let round = 0; round < plan.effort.rounds; round += 1) {
    for (const one of [alone, together]) {
      await using rig = openRig(plan, { hardwareDecode: one.hardwareDecode });
      for (const [at, rate] of (await eachSize(plan, rig)).entries()) one.rates[at]!.push(rate);
      const { cpu, hardware, hardwareMissing } = rig.core.decodeStats();
      one.hardwareShare = hardware / (cpu + hardware);
      missing ??= hardwareMissing;
    }
  }
  const ways = together.hardwareShare > 0 ? [alone, together] : [alone];
  const figures = plan.photos.flatMap((photo, at) => {
    const size = `JPEG ${photo.name}, ${(photo.meanBytes / 1_000).toFixed(0)} kB`;
    const cpu = {
      what: `${size}, ${alone.name}`,
      value: median(alone.rates[at]!),
      unit: 'images/s',
    };
    return ways.length === 1
      ? [cpu]
      : [cpu, compared(plan, size, cpu, median(together.rates[at]!))];
  });
  return {
    title: 'Decode alone',
    figures,
    notes: [...notesOn(plan, together), ...(missing === null ? [] : [missing])],
    charts: [
      {
        name: 'hardware-decode',
        title: 'Decoding, JPEG to network input',
        unit: 'images/s',
        kind: 'bars',
        categories: plan.photos.map(({ name }) => name),
        series: ways.map(({ name, rates }) => ({ name, values: rates.map(median) })),
        logarithmic: true,
      },
    ],
  };
}

async function eachSize(plan: Plan, rig: Rig): Promise<number[]> {
  const model = await loadWhole(rig.core, plan.tinyModel);
  const rates: number[] = [];
  for (const { files, width, height } of plan.photos) {
    const share = Math.min(1, (LEVEL_MEGAPIXELS * 1e6) / (width * height));
    const images = Math.max(files.length, 4, Math.round(plan.effort.images * share));
    const task = (turn: number) => photoTask(model, 'async', files[turn % files.length]!);
    await runImages(rig.core, Math.ceil(images / 8), task);
    rates.push(await imagesPerSecond(rig.core, { ...stretchOf(plan.effort), images }, task));
  }
  return rates;
}

function compared(plan: Plan, size: string, cpu: Figure, value: number): Figure {
  return against(
    { what: `${size}, CPU and JPEG engines`, value, unit: 'images/s' },
    { what: 'CPU alone', value: cpu.value },
    plan.threads >= GOAL_CORES ? TOGETHER_GOAL : undefined,
  );
}

function notesOn(plan: Plan, { hardwareShare }: Way): string[] {
  const notes = ['Photos go through the bundled test-pattern network, so its time is included.'];
  if (hardwareShare === 0) {
    notes.push('The CPU decoded every photo, so there is nothing to compare.');
  } else {
    notes.push(`The JPEG engines decoded ${(100 * hardwareShare).toFixed(0)} % of the photos.`);
    if (plan.threads < GOAL_CORES) {
      notes.push(`The goal is about ${GOAL_CORES} cores; this machine has ${plan.threads}.`);
    }
  }
  const enlarged = plan.photos.filter((photo) => photo.enlarged).map(({ name }) => name);
  if (enlarged.length > 0) {
    notes.push(`Made from smaller photos, so with fewer bytes per pixel: ${enlarged.join(', ')}.`);
  }
  return notes;
}
