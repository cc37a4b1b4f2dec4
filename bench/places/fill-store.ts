/** The pictures of cameras as jobs in a store, one job a camera, as a service with a model would have stored them. */
import { packFound } from '../../src/boxes/found-boxes.js';
import { refineDetections } from '../../src/boxes/refine-detections.js';
import type { NewOutcome } from '../../src/store/job-records.js';
import { openStore, type ServiceStore } from '../../src/store/service-store.js';
import { specOf } from '../../test/jobs/job-folder.js';
import { detectionsOf, pathOf, SIZE, type Still } from '../../test/support/camera-stills.js';
import { foundIn } from '../../test/support/found-in.js';
import { okOutcome } from '../../test/support/outcomes.js';
import type { Camera } from './cameras.js';

const FLOOR = 0.05;
const AT_ONCE = 500;

/** Each job has the tag. Returns the id of the job of each camera. */
export async function fillStore(
  dataDir: string,
  cameras: readonly Camera[],
  tag: string,
): Promise<string[]> {
  const store = await openStore(dataDir);
  const ids: string[] = [];
  for (const camera of cameras) ids.push(await addJob(store, camera, tag));
  await store.close();
  return ids;
}

async function addJob(
  store: ServiceStore,
  { folder, sequence: { stills } }: Camera,
  tag: string,
): Promise<string> {
  const imagePaths = stills.map((still) => pathOf(folder, still));
  const { options } = specOf();
  const spec = specOf({
    jobType: 'detect_vehicles',
    imagePaths,
    options: { ...options, classes: ['car', 'truck'] },
    labels: { name: null, tags: [tag], notes: null, keep: false },
  });
  const now = Date.now() / 1_000;
  const jobId = `job_${folder.replaceAll('/', '_')}`;
  const common = { submittedAt: now, idempotency: null, admit: true, scoreFloor: FLOOR };
  const submitted = await store.submit({ ...common, jobId, spec });
  const { number } = submitted!.job;
  const { fencingToken } = (await store.start(number, 'bench', now))!;
  for (let from = 0; from < stills.length; from += AT_ONCE) {
    const outcomes = stills
      .slice(from, from + AT_ONCE)
      .map((still, at) => outcomeOf(still, from + at, spec.options));
    await store.record(number, fencingToken, outcomes, 'bench', now);
  }
  return jobId;
}

function outcomeOf(
  still: Still,
  index: number,
  options: Parameters<typeof refineDetections>[1],
): NewOutcome {
  const found = foundIn(SIZE, detectionsOf(still), { floor: FLOOR });
  const outcome = { ...okOutcome(), image: SIZE, ...refineDetections(found, options) };
  return { index, ok: true, outcome: JSON.stringify(outcome), found: packFound(found) };
}
