/** How much of its peak does the service keep under two and four times that load? */
import { overload } from './load/overload.js';
import { summarise } from './load/percentiles.js';
import { serve, setting, type Measurement } from './setting.js';

/** `OVERLOAD_SECONDS` shortens a look. */
const SECONDS = Number(process.env.OVERLOAD_SECONDS ?? 60);
const ROUNDS = 4;
const MIB = 2 ** 20;

export default async function overloaded(): Promise<Measurement[]> {
  const at = setting();
  const rows: Measurement[] = [];
  for (const factor of [2, 4]) {
    await using service = await serve(at);
    const found = await overload({
      url: service.url,
      pid: service.pid,
      photos: at.photos,
      factor,
      rounds: ROUNDS,
      peakSeconds: SECONDS / ROUNDS / 2,
      overloadSeconds: SECONDS / ROUNDS,
    });
    const accepted = summarise(found.accepted);
    const refused = summarise(found.refused);
    const share = found.goodput / found.peak;
    const of = `at ${factor} x the peak, open loop`;
    const statuses = JSON.stringify(found.statuses);
    rows.push(
      {
        what: `sync results ${of} (${statuses})`,
        value: found.goodput,
        unit: 'req/s',
        baseline: { what: '8 clients, in bursts', value: found.peak },
        ratio: share,
        goal: '>= 0.90',
        met: share >= 0.9,
      },
      {
        what: `latency of a result ${of}, p99 (p50 ${accepted.p50.toFixed(0)} ms)`,
        value: accepted.p99,
        unit: 'ms',
        goal: '<= 2500',
        met: accepted.p99 <= 2_500,
      },
      {
        what: `refusal ${of}, p50 (p99 ${refused.p99.toFixed(1)} ms)`,
        value: refused.p50,
        unit: 'ms',
        goal: '<= 5',
        met: refused.p50 <= 5,
      },
      {
        what: `resident memory ${of}, most`,
        value: found.mostBytes / MIB,
        unit: 'MiB',
        baseline: { what: 'at the first peak', value: found.restBytes / MIB },
      },
    );
  }
  return rows;
}
