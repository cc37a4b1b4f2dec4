/** Asks a service on a store for the places of all cameras, and how right its answers are. */
import type { Counts, JobResult } from '../../src/client/records.js';
import { PLACE_RULES, unplaced, type PlacedPicture } from '../../src/cameras/place-tracker.js';
import { placeScores, type PlaceScores } from '../../test/support/place-scores.js';
import type { Still } from '../../test/support/camera-stills.js';
import { HttpClient } from '../load/http-client.js';
import { residentMib } from '../load/resident.js';
import { serve, setting } from '../setting.js';
import type { Camera } from './cameras.js';

export interface Asked {
  path: string;
  ms: number;
  /** Memory of the service above that before the first call, the most meanwhile. */
  moreMib: number;
  /** The longest of short requests meanwhile. */
  besideMs: number;
  answer: string;
}

export interface ServiceAnswers {
  asked: Asked[];
  /** In the order of the cameras. */
  scores: PlaceScores[];
  /** Boxes of vehicles that do not stand, by the counts of the cameras. */
  moving: number[];
}

/** `jobs`: ids of the jobs of the cameras. */
export async function askService(
  dataDir: string,
  cameras: readonly Camera[],
  jobs: readonly string[],
  tag: string,
): Promise<ServiceAnswers> {
  await using service = await serve(setting(), { LATTICE_DATA_DIR: dataDir });
  const client = new HttpClient(service.url, 2);
  const before = residentMib(service.pid);
  const asked: Asked[] = [];
  for (const path of [
    `/v1/places?tag=${tag}`,
    `/v1/counts?tag=${tag}&by=folder&static=exclude`,
    `/v1/counts?tag=${tag}&by=folder&static=include`,
  ]) {
    asked.push(await ask(client, service.pid, before, path));
  }
  const scores: PlaceScores[] = [];
  for (const [at, jobId] of jobs.entries()) {
    const { status, body } = await client.send('GET', `/v1/jobs/${jobId}/result?static=include`);
    if (status !== 200) throw new Error(body);
    scores.push(scoresOf(cameras[at]!, JSON.parse(body) as JobResult));
  }
  client.close();
  const [, excluded] = asked;
  const { groups } = JSON.parse(excluded!.answer) as Counts;
  const moving = cameras.map(
    ({ folder }) => groups.find(({ group }) => group === folder)?.detections ?? 0,
  );
  return { asked, scores, moving };
}

async function ask(client: HttpClient, pid: number, before: number, path: string): Promise<Asked> {
  let most = before;
  let besideMs = 0;
  let over = false;
  const answering = client.send('GET', path).finally(() => (over = true));
  while (!over) {
    besideMs = Math.max(besideMs, (await client.send('GET', '/livez')).ms);
    most = Math.max(most, residentMib(pid));
  }
  const { status, ms, body } = await answering;
  if (status !== 200) throw new Error(body);
  return { path, ms, moreMib: most - before, besideMs, answer: body };
}

interface WireBox {
  static?: 'yes' | 'no' | 'unknown';
}

function scoresOf({ sequence }: Camera, { result }: JobResult): PlaceScores {
  const { images } = result as { images: { detections: WireBox[] }[] };
  const placed = sequence.stills.map((still, at) => placedAs(still, images[at]!.detections));
  return placeScores(sequence, placed, PLACE_RULES);
}

/** The answer of the service; it has the boxes above the threshold only, in the same order. */
function placedAs(still: Still, detections: readonly WireBox[]): PlacedPicture {
  const answer = unplaced(still);
  const strong = still.boxes.flatMap(({ confidence }, at) =>
    confidence > PLACE_RULES.confidence ? [at] : [],
  );
  if (strong.length !== detections.length) throw new Error(`${still.key} has other boxes.`);
  strong.forEach((at, index) => {
    const said = detections[index]?.static;
    answer.boxes[at] = {
      ...answer.boxes[at]!,
      static: said === 'yes' || (said === 'no' ? false : 'unknown'),
    };
  });
  return answer;
}
