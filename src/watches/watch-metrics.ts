/** Watches in the metrics. Names of watches are few. */
import { FINDING_KINDS, type FindingKind } from '../cameras/camera-health.js';
import type { Metrics } from '../metrics/metrics.js';
import { waitingFiles, type WatchProgress } from './watch-run.js';

/** From the shortest settle time to a night without a schedule. */
const LAG_BUCKETS = [0.25, 0.5, 1, 1.25, 1.5, 2, 3, 5, 10, 30, 60, 300, 900, 3_600, 43_200];

/** Returns the function that takes the seconds of a file. */
export function lagHistogram(metrics: Metrics): (watch: string, seconds: number) => void {
  const observe = metrics.histogram({
    name: 'lattice_watch_lag_seconds',
    help: 'Time from the arrival of a file in a watched folder to its result, by watch.',
    labels: ['watch'],
    buckets: LAG_BUCKETS,
  });
  return (watch, seconds) => {
    observe({ watch }, seconds);
  };
}

export interface MeasuredWatches {
  progress(): readonly {
    name: string;
    progress: Pick<WatchProgress, 'counts'> & {
      report: Pick<NonNullable<WatchProgress['report']>, 'skipped'> | null;
    };
  }[];
  openFindings(): Promise<readonly { kind: FindingKind; findings: number }[]>;
}

export function addWatchFigures(metrics: Metrics, watches: MeasuredWatches): void {
  metrics.figures(
    {
      name: 'lattice_watch_waiting',
      help: 'Files that watches have seen and not yet submitted, by watch.',
      read: () =>
        watches.progress().map(({ name, progress }) => ({
          labels: { watch: name },
          value: waitingFiles(progress),
        })),
    },
    {
      name: 'lattice_watch_skipped',
      help: 'Files that watches do not take, by watch and reason: empty, no permission, or the ending of a format that is not read.',
      read: () =>
        watches.progress().flatMap(({ name, progress }) =>
          Object.entries(progress.report?.skipped ?? {}).map(([reason, value]) => ({
            labels: { watch: name, reason },
            value,
          })),
        ),
    },
    {
      name: 'lattice_camera_findings',
      help: 'Open findings of cameras of watches, by kind.',
      read: async () => {
        const open = new Map(
          (await watches.openFindings()).map((each) => [each.kind, each.findings]),
        );
        return FINDING_KINDS.map((kind) => ({ labels: { kind }, value: open.get(kind) ?? 0 }));
      },
    },
  );
}
