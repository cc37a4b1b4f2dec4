/** Does memory stay where it is over many images? */
import { median } from '../../load/percentiles.js';
import { against, type Answer, type Figure } from '../answer.js';
import { gpuMemoryMiB } from '../gpu-facts.js';
import { mainModel, type Plan } from '../plan.js';
import { loadWhole, openRig, photoTask, runImages } from '../rig.js';

const PARTS = 16;
const FLAT = { atMost: 1.02 };
/** The goal applies to runs of this length. */
const GOAL_IMAGES = 200_000;

export default async function memory(plan: Plan): Promise<Answer> {
  await using rig = openRig(plan);
  const planned = mainModel(plan);
  const model = await loadWhole(rig.core, planned.file);
  const files = plan.photos[0]!.files;
  const resident: number[] = [];
  const onGpu: (number | null)[] = [];
  const reached: number[] = [];
  for (let part = 1; part <= PARTS; part += 1) {
    const images = Math.max(
      1,
      Math.round((plan.effort.long * part) / PARTS) - (reached.at(-1) ?? 0),
    );
    await runImages(rig.core, images, (turn) =>
      photoTask(model, 'async', files[turn % files.length]!),
    );
    reached.push((reached.at(-1) ?? 0) + images);
    resident.push(process.memoryUsage().rss / 2 ** 20);
    // A driver that gives none at first gives none later.
    const asked = plan.device === 'cuda' && !onGpu.includes(null);
    onGpu.push(asked ? await gpuMemoryMiB() : null);
  }
  const images = reached.at(-1)!;
  const judgeable = images >= GOAL_IMAGES;
  const figures = [growth('resident memory', resident, images, judgeable)];
  const known = onGpu.filter((value) => value !== null);
  if (known.length === PARTS) {
    figures.push(growth('GPU memory in use', known, images, judgeable));
  }
  const notes: string[] = [];
  if (plan.device === 'cpu') notes.push('No GPU is in use, so there is no GPU memory to report.');
  else if (known.length < PARTS) {
    notes.push('GPU memory is not reported: the driver gave none.');
  }
  if (!judgeable) {
    notes.push(`The goal applies to ${GOAL_IMAGES} images; ${images} were run (--long sets them).`);
  }
  return {
    title: 'Memory over a long run',
    figures,
    notes,
    charts: [
      {
        name: 'memory',
        title: `Memory over ${images} images, ${planned.name}`,
        unit: 'MiB',
        kind: 'lines',
        categories: reached.map((count) => String(count)),
        series: [
          { name: 'resident', values: resident },
          { name: 'GPU in use', values: onGpu },
        ],
      },
    ],
  };
}

/** The last quarter against the second: the first one warms up. */
function growth(what: string, samples: number[], images: number, judgeable: boolean): Figure {
  const quarter = PARTS / 4;
  return against(
    {
      what: `${what}, last quarter of ${images} images`,
      value: median(samples.slice(-quarter)),
      unit: 'MiB',
    },
    { what: 'second quarter', value: median(samples.slice(quarter, 2 * quarter)) },
    judgeable ? FLAT : undefined,
  );
}
