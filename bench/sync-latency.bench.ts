/**
 * The time that the service adds to decode + engine for one synchronous caller. HTTP calls, bare calls and calls of
 * a server that answers at once alternate.
 */
import { startBareServer } from './load/bare-server.js';
import { HttpClient } from './load/http-client.js';
import { summarise } from './load/percentiles.js';
import { openBareCore, photoTask, serve, setting, type Measurement } from './setting.js';

const ROUNDS = 300;
const PATH = '/v1/inference/detect';
const BEYOND_GOAL_MS = 0.6;

export default async function syncLatency(): Promise<Measurement[]> {
  const at = setting();
  await using service = await serve(at);
  const { core, model } = await openBareCore(at);
  using answering = await startBareServer();
  const client = new HttpClient(service.url, 1);
  using bareHttp = new HttpClient(answering.url, 1);
  const http: number[] = [];
  const bare: number[] = [];
  const least: number[] = [];
  const beyond: number[] = [];
  const bareMs: number[] = [];
  for (let round = -20; round < ROUNDS; round += 1) {
    const photo = at.photos[(round + 20) % at.photos.length]!;
    const { ms, stagesMs } = await detect(client, photo);
    const { timings } = await core.run(photoTask(model, photo));
    const answered = await bareHttp.send('POST', '/', { image_path: photo });
    if (round < 0) continue;
    http.push(ms);
    beyond.push(ms - stagesMs);
    bare.push(timings.decode + timings.inference);
    bareMs.push(answered.ms);
    least.push(timings.decode + timings.inference + answered.ms);
  }
  client.close();
  await core.close();
  const value = summarise(http);
  const floor = summarise(bare);
  const bound = summarise(least);
  const added = summarise(beyond);
  const answer = summarise(bareMs);
  return [
    {
      what: 'sync detect over HTTP, 1 client, p50',
      value: value.p50,
      unit: 'ms',
      baseline: { what: 'in-process decode + engine, p50', value: floor.p50 },
      ratio: value.p50 / floor.p50,
      bound: { what: 'decode + network + bare HTTP, p50', value: bound.p50 },
      goal: '<= 1.10',
      met: value.p50 / floor.p50 <= 1.1,
    },
    {
      what: 'sync detect over HTTP, 1 client, p99',
      value: value.p99,
      unit: 'ms',
      baseline: { what: 'in-process decode + engine, p99', value: floor.p99 },
      ratio: value.p99 / floor.p99,
      bound: { what: 'decode + network + bare HTTP, p99', value: bound.p99 },
    },
    {
      what: 'what the service adds beyond its stages, 1 client, p50',
      value: added.p50,
      unit: 'ms',
      baseline: { what: 'bare HTTP, p50', value: answer.p50 },
      ratio: added.p50 / answer.p50,
      goal: `<= ${BEYOND_GOAL_MS} ms`,
      met: added.p50 <= BEYOND_GOAL_MS,
    },
  ];
}

/** The time of one detection for its client, and the sum of the stages that its answer tells. */
async function detect(
  client: HttpClient,
  photo: string,
): Promise<{ ms: number; stagesMs: number }> {
  const { status, body, ms } = await client.send('POST', PATH, { image_path: photo });
  if (status !== 200) throw new Error(body);
  const { timings_ms: stages } = JSON.parse(body) as { timings_ms: Record<string, number> };
  return { ms, stagesMs: Object.values(stages).reduce((sum, stage) => sum + stage, 0) };
}
