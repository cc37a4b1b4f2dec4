/** How many photos a second does each way of decoding give, and all of them together? They take turns. */
import { median } from '../../load/percentiles.js';
import { against, type Answer, type Figure } from '../answer.js';
import { decodeRoutes } from '../decode-route.js';
import type { Plan } from '../plan.js';
import { imagesPerSecond, openRig, photoTask, runImages, stretchOf, type Rig } from '../rig.js';

const TOGETHER = 'all together';
const TOGETHER_GOAL = { atLeast: 1.3 };
const GOAL_CORES = 16;
/** Large photos cost more: as many pixels each round as this size has. */
const LEVEL_MEGAPIXELS = 0.9;

interface Way {
  name: string;
  routes: string[];
}

export default async function decodeRoutesQuestion(plan: Plan): Promise<Answer> {
  const { routes, missing } = await decodeRoutes(plan);
  const ways: Way[] = routes.map((route) => ({ name: route, routes: [route] }));
  if (routes.length > 1) ways.push({ name: TOGETHER, routes });
  const rates = new Map(ways.map(({ name }) => [name, plan.photos.map(() => [] as number[])]));
  for (let round = 0; round < plan.effort.rounds; round += 1) {
    for (const { name, routes: allowed } of ways) {
      await using rig = openRig(plan, { decodeRoutes: allowed });
      for (const [at, rate] of (await eachSize(plan, rig)).entries()) {
        rates.get(name)![at]!.push(rate);
      }
    }
  }
  const rateOf = (name: string, at: number) => median(rates.get(name)![at]!);
  const figures = plan.photos.flatMap((photo, at) => {
    const alone = routes.map((route): Figure => ({
      what: `JPEG ${photo.name}, ${(photo.meanBytes / 1_000).toFixed(0)} kB, route ${route}`,
      value: rateOf(route, at),
      unit: 'images/s',
    }));
    return routes.length > 1
      ? [...alone, together(plan, photo.name, alone, rateOf(TOGETHER, at))]
      : alone;
  });
  return {
    title: 'Decode alone',
    figures,
    notes: [...notesOn(plan, routes), ...missing],
    charts: [
      {
        name: 'decode-routes',
        title: 'Decode routes, JPEG to network input',
        unit: 'images/s',
        kind: 'bars',
        categories: plan.photos.map(({ name }) => name),
        series: ways.map(({ name }) => ({
          name,
          values: plan.photos.map((_, at) => rateOf(name, at)),
        })),
        logarithmic: true,
      },
    ],
  };
}

async function eachSize(plan: Plan, rig: Rig): Promise<number[]> {
  const model = await rig.core.loadModel(plan.tinyModel);
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

function together(plan: Plan, size: string, alone: Figure[], value: number): Figure {
  const best = Math.max(...alone.map((figure) => figure.value));
  return against(
    { what: `JPEG ${size}, ${TOGETHER}`, value, unit: 'images/s' },
    { what: 'best route alone', value: best },
    plan.threads >= GOAL_CORES ? TOGETHER_GOAL : undefined,
  );
}

function notesOn(plan: Plan, routes: string[]): string[] {
  const notes = ['Photos go through the bundled test-pattern network, so its time is included.'];
  if (routes.length === 1) {
    notes.push(`The addon reports one route, ${routes[0]!}, so there is nothing to put together.`);
  } else if (plan.threads < GOAL_CORES) {
    notes.push(`The goal is about ${GOAL_CORES} cores; this machine has ${plan.threads}.`);
  }
  const enlarged = plan.photos.filter((photo) => photo.enlarged).map(({ name }) => name);
  if (enlarged.length > 0) {
    notes.push(`Made from smaller photos, so with fewer bytes a pixel: ${enlarged.join(', ')}.`);
  }
  return notes;
}
