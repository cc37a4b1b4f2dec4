/** Watched folders of a service: added, listed, paused and removed. */
import type { ScheduledTime } from '../../api/watch-times.js';
import { jobText } from '../../client/job-text.js';
import type { Watch } from '../../client/lattice-client.js';
import type { EXISTING_FILES } from '../../store/watched.js';
import { settingsOf, type JobFlags } from '../job/job-flags.js';
import { openClient, type AccessFlags } from '../job/open-client.js';
import { timeText } from '../job/showing.js';
import { renderTable } from '../output-text.js';
import type { Terminal } from '../terminal.js';

export interface AddFlags extends AccessFlags, JobFlags {
  existing?: (typeof EXISTING_FILES)[number];
  settle?: number;
  interval?: number;
  batch?: number;
  maxWait?: number;
  schedule?: ScheduledTime[];
  cameraHealth?: boolean;
  eventGap?: number;
  paused?: boolean;
}

export async function addWatch(
  name: string,
  paths: string[],
  flags: AddFlags,
  terminal: Terminal,
): Promise<void> {
  const watch = {
    ...settingsOf(flags),
    name,
    paths,
    settle_ms: milliseconds(flags.settle),
    interval_ms: milliseconds(flags.interval),
    schedule: flags.schedule,
    batch: { max_images: flags.batch, max_wait_s: flags.maxWait },
    existing: flags.existing,
    camera_health: flags.cameraHealth,
    event_gap_s: flags.eventGap,
    paused: flags.paused,
  };
  print(await openClient(flags).addWatch(jobText(watch, flags.metadata ?? null)), flags, terminal);
}

const HEADER = ['WATCH', 'STATE', 'PATHS', 'KNOWN', 'WAITING', 'SUBMITTED', 'FAILED', 'REASON'];

export async function listWatches(flags: AccessFlags, terminal: Terminal): Promise<void> {
  const watches = await openClient(flags).watches();
  if (flags.json === true) terminal.out(JSON.stringify(watches));
  else if (watches.length === 0) terminal.err('No folder is watched.');
  else {
    const rows = watches.map(({ name, state, paths, files, reason }) => [
      ...[name, state, paths.join(' '), String(files.known), String(files.waiting)],
      ...[String(files.submitted), String(files.failed), reason ?? ''],
    ]);
    for (const line of renderTable([HEADER, ...rows])) terminal.out(line);
  }
}

export async function showWatch(
  name: string,
  flags: AccessFlags,
  terminal: Terminal,
): Promise<void> {
  print(await openClient(flags).watch(name), flags, terminal);
}

export async function pauseWatch(
  name: string,
  paused: boolean,
  flags: AccessFlags,
  terminal: Terminal,
): Promise<void> {
  print(await openClient(flags).changeWatch(name, { paused }), flags, terminal);
}

const CAMERA_HEADER = ['CAMERA', 'LAST PICTURE', 'FINDINGS'];

export async function listCameras(
  name: string,
  flags: AccessFlags,
  terminal: Terminal,
): Promise<void> {
  const cameras = await openClient(flags).cameras(name);
  if (flags.json === true) terminal.out(JSON.stringify(cameras));
  else if (cameras.length === 0) terminal.err('No picture of a camera yet: see --camera-health.');
  else {
    const rows = cameras.map(({ camera, last_taken: last, findings }) => [
      ...[camera, last],
      findings.map(({ kind, began }) => `${kind} since ${began}`).join(', '),
    ]);
    for (const line of renderTable([CAMERA_HEADER, ...rows])) terminal.out(line);
  }
}

export async function removeWatch(
  name: string,
  flags: AccessFlags,
  terminal: Terminal,
): Promise<void> {
  await openClient(flags).deleteWatch(name);
  if (flags.json !== true) terminal.err(`${name} is no longer watched; its jobs stay.`);
}

function print(watch: Watch, { json }: AccessFlags, terminal: Terminal): void {
  if (json === true) terminal.out(JSON.stringify(watch));
  else for (const line of renderTable(rowsOf(watch))) terminal.out(line);
}

function rowsOf(watch: Watch): string[][] {
  const { name, state, reason, paths, files, last_scan: scan, lag_s: lag } = watch;
  const skipped = Object.entries(files.skipped).map(([why, count]) => `${count} ${why}`);
  return [
    ['watch', name],
    ['state', reason === null ? state : `${state}: ${reason}`],
    ['paths', paths.join(' ')],
    ['files', `${files.known} known, ${files.waiting} waiting, ${files.pending} in jobs`],
    [
      'images',
      `${files.submitted} submitted, ${files.succeeded} succeeded, ${files.failed} failed`,
    ],
    ...(skipped.length === 0 ? [] : [['skipped', skipped.join(', ')]]),
    ...(scan === null
      ? []
      : [['last scan', `${timeText(scan.at)}, ${scan.files} files in ${scan.took_ms} ms`]]),
    ...(lag === null
      ? []
      : [['lag', `${lag.p50.toFixed(2)} s median, 99 % within ${lag.p99.toFixed(2)} s`]]),
  ];
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.round(1_000 * seconds);
}
