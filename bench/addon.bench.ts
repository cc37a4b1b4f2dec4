/** The cost of the boundary: a task that is refused at once, alone and 100 at a time; 100 boxes into JavaScript. */
import { Bench } from 'tinybench';
import { openBareCore, PLAIN_TASK, setting, type Measurement } from './setting.js';

const DEPTH = 100;

export default async function addon(): Promise<Measurement[]> {
  const { core, model } = await openBareCore(setting());
  // A task of a model that is not loaded: it crosses the boundary both ways and computes nothing. Its error is made,
  // too.
  const refused = {
    ...PLAIN_TASK,
    path: 'a.jpg',
    modelId: model.modelId + 1,
    kind: 'sync' as const,
  };
  const roundTrip = () => core.run(refused).catch(() => null);
  const rows = new Float32Array(DEPTH * 6).fill(7);
  const bench = new Bench({ time: 1_000, warmupTime: 300 });
  bench
    .add('one at a time', roundTrip)
    .add('100 at a time', () => Promise.all(Array.from({ length: DEPTH }, roundTrip)))
    .add('100 boxes', () => {
      const boxes = [];
      for (let at = 0; at < rows.length; at += 6) {
        boxes.push({
          box: [rows[at], rows[at + 1], rows[at + 2], rows[at + 3]],
          confidence: rows[at + 4],
        });
      }
      return boxes;
    });
  await bench.run();
  await core.close();
  const us = (name: string) => {
    const result = bench.getTask(name)?.result;
    if (result?.state !== 'completed') throw new Error(`${name} did not complete`);
    return result.latency.p50 * 1_000;
  };
  return [
    {
      what: 'round trip of a refused task, one at a time, p50',
      value: us('one at a time'),
      unit: 'us',
    },
    {
      what: 'round trip of a refused task, 100 in flight, per call',
      value: us('100 at a time') / DEPTH,
      unit: 'us',
    },
    {
      what: '100 boxes from the Float32Array to objects',
      value: us('100 boxes'),
      unit: 'us',
      goal: '<= 5',
      met: us('100 boxes') <= 5,
    },
  ];
}
