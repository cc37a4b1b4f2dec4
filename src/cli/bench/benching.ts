/** Measures a running service at rising load; prints and writes what it finds. */
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Timings } from '../../api/schemas/image.js';
import type { OutputPlace } from '../../base/output-place.js';
import { HttpCaller, type ApiCall } from '../../client/http-call.js';
import type { DetectResponse } from '../../client/records.js';
import { withSuffix } from '../../models/model-folder.js';
import { isLoopback, serviceAccess } from '../../settings/config.js';
import { networkText } from '../../report/words.js';
import { hostOf } from '../../webhooks/target-policy.js';
import { openClient } from '../job/open-client.js';
import { placeOf, writeFileTo } from '../output-file.js';
import { renderRow } from '../output-text.js';
import { EXIT_FAILED, EXIT_PARTLY, onUserPath, UsageError, type Terminal } from '../terminal.js';
import { untilSignal } from '../until-signal.js';
import type { Answered } from './network-beside.js';
import { measureLevel, type Level, type LevelOptions } from './level.js';
import {
  closedLoop,
  constantArrivals,
  openLoop,
  poissonArrivals,
  type Load,
  type Note,
  type Send,
} from './load.js';

export interface Range {
  start: number;
  /** 0: until the latency threshold. */
  end: number;
  step: number;
}

export interface BenchFlags extends LevelOptions {
  url?: string;
  apiKeyFile?: string;
  image?: string[];
  upload?: string[];
  model?: string;
  concurrencyRange?: Range;
  requestRateRange?: Range;
  requestDistribution: 'constant' | 'poisson';
  latencyThreshold: number;
  warmupRequestCount: number;
  csv?: string;
  json?: string;
}

/**
 * Prints a line per level. Sets exit code 3 where a level was not stable, 1 where none of its requests was answered
 * with boxes, 130 or 143 after a signal; the files have the levels before. Rejects with `ServiceError` when the first
 * requests fail.
 */
export async function benchService(flags: BenchFlags, terminal: Terminal): Promise<void> {
  const range = flags.requestRateRange ?? flags.concurrencyRange ?? { start: 1, end: 1, step: 1 };
  if (range.end === 0 && flags.latencyThreshold === 0) {
    throw new UsageError('A range without an end needs --latency-threshold.');
  }
  const { send, answered } = await senderOf(flags);
  const files = await filesOf(flags);
  const isFile = files.some(({ place }) => place.kind === 'standard output');
  const print = (text: string): void => {
    // Standard output has either the table or a file.
    if (isFile) terminal.err(text);
    else terminal.out(text);
  };
  const kind = flags.requestRateRange === undefined ? 'concurrency' : 'request_rate';
  const run: Measured = { kind, network_images_per_second: null, levels: [] };
  await untilSignal(terminal, async (signal) => {
    await keep(files, run); // a file that cannot be written is told at once
    for (let each = 0; each < flags.warmupRequestCount; each += 1) await send();
    print(headerLine(kind));
    for (const load of loadsOf(range)) {
      terminal.progress?.(`${kind} ${load} ...`);
      const start = (note: Note<Timings>) => startLoad(load, flags, send, note);
      const level = { load, ...(await measureLevel(start, flags, signal)) };
      run.levels.push(level);
      print(levelLine(level));
      await keep(files, run);
      if (!level.stable) terminal.setExitCode(level.requests > 0 ? EXIT_PARTLY : EXIT_FAILED);
      if (level.requests === 0) return;
      if (isTooSlow(level, flags)) {
        const { percentile, latencyThreshold: most } = flags;
        print(`p${percentile} is above ${most} ms: no higher level is measured.`);
        break;
      }
    }
    const alone = await networkAlone(answered(), terminal);
    if (alone === null) return;
    run.network_images_per_second = alone;
    const best = Math.max(...run.levels.map((level) => level.images_per_second));
    print(networkText({ run: best, alone }, 'the best level'));
    await keep(files, run);
  });
  await deliver(files, run, terminal);
}

async function networkAlone(answered: Answered | null, terminal: Terminal): Promise<number | null> {
  if (answered === null) return null;
  terminal.progress?.('The network alone ...');
  // A machine that only sends requests needs no addon.
  const { networkBeside } = await import('./network-beside.js');
  return networkBeside(answered, terminal).catch((error: unknown) => {
    terminal.err(`The network alone was not measured: ${(error as Error).message}`);
    return null;
  });
}

function isTooSlow({ deciding_ms: ms }: MeasuredLevel, { latencyThreshold }: BenchFlags): boolean {
  return latencyThreshold > 0 && ms > latencyThreshold;
}

interface Sender {
  send: () => Promise<Timings>;
  /** Null before an answer, and of a service on another machine, whose network cannot be measured here. */
  answered: () => Answered | null;
}

/** So many sizes of pictures are remembered. */
const MOST_SIZES = 16;

/** Takes the images in turn. Its calls reject with `ServiceError` on any answer but boxes. */
async function senderOf(flags: BenchFlags): Promise<Sender> {
  const { image = [], upload = [], model } = flags;
  const name = model === undefined ? model : withSuffix(model);
  const files = await Promise.all(upload.map((file) => callOfFile(file, name)));
  const calls = [...image.map((path) => callOfPath(path, name)), ...files];
  const [first] = calls;
  if (first === undefined) {
    throw new UsageError(
      'Name what to send: --image PATH as the service sees it, or --upload FILE of this machine.',
    );
  }
  const access = { url: flags.url, apiKeyFile: flags.apiKeyFile };
  const { url } = openClient(access);
  const http = new HttpCaller({ ...serviceAccess(access), url, retry: false });
  let turn = 0;
  const sizes = new Map<string, DetectResponse['image']>();
  let last: DetectResponse | undefined;
  const send = async () => {
    const json = await http.json(calls[turn++ % calls.length] ?? first, ANSWER_MS);
    last = json as DetectResponse;
    const { width, height } = last.image;
    if (sizes.size < MOST_SIZES) sizes.set(`${width} x ${height}`, last.image);
    return last.timings_ms;
  };
  const answered = () =>
    isLoopback(hostOf(new URL(url))) && last !== undefined
      ? { last, sizes: [...sizes.values()] }
      : null;
  return { send, answered };
}

function startLoad(
  load: number,
  flags: BenchFlags,
  send: Send<Timings>,
  note: Note<Timings>,
): Load {
  if (flags.requestRateRange === undefined) return closedLoop(load, send, note);
  const isPoisson = flags.requestDistribution === 'poisson';
  const arrivals = isPoisson ? poissonArrivals(load, Infinity) : constantArrivals(load);
  return openLoop(arrivals, send, note);
}

function* loadsOf({ start, end, step }: Range): Generator<number> {
  for (let each = 0; ; each += 1) {
    const load = +(start + each * step).toFixed(6); // 0.1 + 0.2 is more than 0.3
    if (end > 0 && load > end) return;
    yield load;
  }
}

const ANSWER_MS = 60_000;
/** A request that is broken off is an error of the measurement: it is not sent again. */
const CALL = { method: 'POST', path: '/v1/inference/detect', repeatable: false } as const;

/** The call that names the image by the path that the service sees. */
function callOfPath(image_path: string, model_name: string | undefined): ApiCall {
  return { ...CALL, body: { image_path, model_name } };
}

/** A file of this machine. Rejects with `UsageError` for one that cannot be read. */
async function callOfFile(file: string, model: string | undefined): Promise<ApiCall> {
  const query = model === undefined ? '' : `?model_name=${encodeURIComponent(model)}`;
  const kind = extname(file).slice(1).toLowerCase();
  const type = `image/${kind.replace(/^jpg$/, 'jpeg').replace(/^tif$/, 'tiff')}`;
  const body = await onUserPath(file, 'read', readFile(file));
  return { ...CALL, path: CALL.path + query, headers: { 'content-type': type }, body };
}

const COLUMNS = [
  'IMAGES/S',
  'P50 ms',
  'P95 ms',
  'P99 ms',
  'QUEUE',
  'DECODE',
  'INFERENCE',
  'ERRORS',
];

type MeasuredLevel = { load: number } & Level;

function headerLine(kind: string): string {
  return line([kind, ...COLUMNS]);
}

function levelLine(level: MeasuredLevel): string {
  const { latency_ms: latency, server_ms: server } = level;
  const times = [latency.p50, latency.p95, latency.p99, server.queue, server.decode];
  const failed = Object.entries(level.errors).map(([code, count]) => `${count} ${code}`);
  return line([
    String(level.load),
    ...[level.images_per_second, ...times, server.inference].map((each) => each?.toFixed(1) ?? ''),
    `${failed.join(', ') || '0'}${level.stable ? '' : '  (not stable)'}`,
  ]);
}

const line = (cells: string[]) => renderRow(cells, [12, 8, 8, 8, 8, 7, 9, 7]);

interface Measured {
  kind: string;
  /** Null where it is not measured. */
  network_images_per_second: number | null;
  levels: MeasuredLevel[];
}

interface LevelFile {
  place: OutputPlace;
  textOf: (run: Measured) => string;
}

/** Rejects with `UsageError` for places that cannot be written. */
async function filesOf({ csv, json }: Pick<BenchFlags, 'csv' | 'json'>): Promise<LevelFile[]> {
  const files: LevelFile[] = [];
  if (csv !== undefined) files.push({ place: await placeOf(csv), textOf: csvOf });
  const jsonOf = (run: Measured) => `${JSON.stringify(run, null, 2)}\n`;
  if (json !== undefined) files.push({ place: await placeOf(json), textOf: jsonOf });
  if (files.filter(({ place }) => place.kind === 'standard output').length > 1) {
    throw new UsageError('--csv and --json cannot both go to standard output.');
  }
  return files;
}

/** Writes the measurements so far; a file is replaced each time. */
async function keep(files: readonly LevelFile[], run: Measured): Promise<void> {
  for (const { place, textOf } of files) {
    if (place.kind === 'file') await writeFileTo(place, [textOf(run)]);
  }
}

/** Devices, pipes and standard output get the levels once. */
async function deliver(
  files: readonly LevelFile[],
  run: Measured,
  terminal: Terminal,
): Promise<void> {
  for (const { place, textOf } of files) {
    if (place.kind === 'standard output') await terminal.write(textOf(run));
    else if (place.kind === 'device') await writeFileTo(place, [textOf(run)]);
  }
}

/** Nested names are joined: `latency_ms_p50`. Errors are counted, as their codes differ by level. */
function csvOf({ kind, levels }: Measured): string {
  const rows = levels.map(({ errors, ...level }) => {
    const failed = Object.values(errors).reduce((sum, count) => sum + count, 0);
    return Object.entries({ ...level, errors: failed }).flatMap(([name, value]) =>
      typeof value === 'object'
        ? Object.entries(value).map(([part, figure]) => [`${name}_${part}`, figure] as const)
        : [[name, value] as const],
    );
  });
  const header = rows[0]?.map(([name]) => (name === 'load' ? kind : name)) ?? [kind];
  return [header, ...rows.map((row) => row.map(([, value]) => value))]
    .map((row) => `${row.join(',')}\n`)
    .join('');
}
