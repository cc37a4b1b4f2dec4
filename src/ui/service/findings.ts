/** Faults of the service right now, in sentences; the worst first. */
import type { ClusterStatus, Model } from '../../client/records.js';
import { duration, plural } from '../text/format.js';
import type { Reading } from './reading.js';
import { newFailures } from './series.js';

export type Level = 'good' | 'warn' | 'bad';

export interface Finding {
  level: Level;
  text: string;
}

export interface Seen {
  /** Seconds since the last news of a service that is away; null while it is there. */
  silentFor: number | null;
  /** Why it is not ready; null when it is. */
  notReady: string | null;
  /** Null while it is not known. */
  status: ClusterStatus | null;
  models: readonly Model[] | null;
  readings: readonly Reading[];
}

const RECENT_S = 60;
const RANK: Record<Level, number> = { bad: 0, warn: 1, good: 2 };

export function findings(seen: Seen): Finding[] {
  const found = [
    ...silence(seen),
    ...readiness(seen),
    ...workers(seen),
    ...silentHead(seen),
    ...differentModels(seen),
    ...gpus(seen),
    ...pressure(seen),
    ...refused(seen),
    ...failures(seen),
    ...queue(seen),
  ].sort((a, b) => RANK[a.level] - RANK[b.level]);
  return found.length === 0 ? [{ level: 'good', text: allWell(seen) }] : found;
}

function allWell({ status }: Seen): string {
  if (status === null) return 'The service is ready.';
  const { engine, workers: all } = status;
  const on = `${engine.device.toUpperCase()} in ${engine.precision}`;
  return `All is well: ${plural(all.length, 'worker')} ready on ${on}.`;
}

/** The finding on a silent service: all other facts of the page are as old. */
function silence({ silentFor }: Seen): Finding[] {
  if (silentFor === null) return [];
  const text = `The service has not answered for ${duration(silentFor)}: this page shows what it said last.`;
  return [{ level: 'bad', text }];
}

function readiness({ notReady }: Seen): Finding[] {
  return notReady === null ? [] : [{ level: 'bad', text: `Not ready: ${notReady}` }];
}

function workers({ status }: Seen): Finding[] {
  const all = status?.workers ?? [];
  const ill = all.filter(({ state }) => state !== 'ready' && state !== 'leaving');
  const [first] = ill;
  if (first === undefined) return [];
  const level = ill.length === all.length ? 'bad' : 'warn';
  const reason = `${first.worker_id}: ${first.reason ?? first.state}`;
  const are = ill.length === 1 ? 'does' : 'do';
  return [
    { level, text: `${ill.length} of ${plural(all.length, 'worker')} ${are} not work: ${reason}` },
  ];
}

function silentHead({ status }: Seen): Finding[] {
  const silent = status?.unanswered ?? [];
  if (silent.length === 0) return [];
  const ages = silent.flatMap(({ age_seconds: age }) => (age === null ? [] : [age]));
  const since = ages.length === 0 ? 'yet' : `for ${duration(Math.max(...ages))}`;
  const text = `The head of the Ray cluster has not answered ${since}: the numbers of its CPUs are old. Workers and jobs go on.`;
  return [{ level: 'warn', text }];
}

function differentModels({ status }: Seen): Finding[] {
  const all = status?.workers ?? [];
  const other = all.filter(({ model_faults: faults }) => faults.length > 0);
  const [first] = other;
  if (first === undefined) return [];
  const some = `${other.length} of ${plural(all.length, 'worker')}`;
  const which = `${first.worker_id} on node ${first.node_id}`;
  const fault = first.model_faults[0] ?? '';
  const text = `The models of ${some} are not those of the service: ${which}: ${fault}`;
  return [{ level: 'warn', text }];
}

function gpus({ status }: Seen): Finding[] {
  return (status?.engine.gpus ?? []).flatMap(
    ({ index, name, state, slowed_by: slowed }): Finding[] => {
      const which = `GPU ${index} (${name})`;
      if (state === 'lost')
        return [{ level: 'bad', text: `${which} is lost: it faulted or hangs.` }];
      if (state === 'failed_check') {
        return [{ level: 'bad', text: `${which} fails the self-check of a model.` }];
      }
      const heat = slowed.filter((what) => what !== 'power_cap');
      if (heat.length === 0) return [];
      return [
        {
          level: 'warn',
          text: `${which} is slowed down by ${heat.join(', ').replaceAll('_', ' ')}.`,
        },
      ];
    },
  );
}

/** Levels of the reasons by which the service reports a shortage. Images of jobs that wait are no fault. */
const PRESSURE: Record<ClusterStatus['service']['reasons'][number]['reason'], Level> = {
  load: 'warn',
  volume: 'bad',
  waiting: 'good',
};

function pressure({ status }: Seen): Finding[] {
  return (status?.service.reasons ?? [])
    .map(({ reason, detail }) => ({ level: PRESSURE[reason], text: detail }))
    .filter(({ level }) => level !== 'good');
}

function refused({ models }: Seen): Finding[] {
  return (models ?? [])
    .filter(({ reason }) => reason !== null)
    .map(({ name, state, reason }) => ({
      level: 'warn',
      text: `${name}${state === 'refused' ? ' cannot be used' : ''}: ${reason ?? ''}`,
    }));
}

function failures({ readings }: Seen): Finding[] {
  const now = readings.at(-1);
  const before = readings.find(({ at }) => now !== undefined && at >= now.at - RECENT_S);
  if (now === undefined || before === undefined) return [];
  const codes = newFailures(before, now);
  const count = codes.reduce((sum, [, each]) => sum + each, 0);
  if (count === 0) return [];
  const code = `${codes.length > 1 ? 'mostly ' : ''}${codes[0]?.[0] ?? ''}`;
  const text = `${plural(count, 'image')} failed in the last minute: ${code}.`;
  return [{ level: 'warn', text }];
}

function queue({ readings }: Seen): Finding[] {
  const recent = readings.slice(-3);
  const isLong = recent.length === 3 && recent.every(({ queueSync }) => (queueSync ?? 0) > 0);
  if (!isLong) return [];
  return [
    {
      level: 'warn',
      text: 'Requests wait for a worker: more come than the machine can answer at once.',
    },
  ];
}
