/** Measures a running service at rising load. */
import { serviceAccess } from '../../settings/config.js';
import { withSuffix } from '../../models/model-folder.js';
import { exitCodeOf, FirstSignal } from '../first-signal.js';
import { openClient } from '../job/open-client.js';
import { EXIT_FAILED, EXIT_PARTLY, UsageError, type Terminal } from '../terminal.js';
import { constantArrivals, poissonArrivals } from './arrivals.js';
import { measureLevel, type LevelOptions } from './level.js';
import { closedLoop, openLoop, type Load, type Note, type Send } from './loops.js';
import { headerLine, levelLine, writeFiles, type MeasuredLevel } from './report.js';
import { bodyOfFile, bodyOfPath, sendImage } from './sender.js';

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
  const send = await senderOf(flags);
  const kind = flags.requestRateRange === undefined ? 'concurrency' : 'request_rate';
  const levels: MeasuredLevel[] = [];
  const stop = new AbortController();
  const interrupt = new FirstSignal(() => {
    stop.abort();
  });
  try {
    await writeFiles({ kind, levels }, flags); // a file that cannot be written is told at once
    for (let each = 0; each < flags.warmupRequestCount; each += 1) await send();
    terminal.out(headerLine(kind));
    for (const load of loadsOf(range)) {
      terminal.progress?.(`${kind} ${load} ...`);
      const start = (note: Note) => startLoad(load, flags, send, note);
      const level = { load, ...(await measureLevel(start, flags, stop.signal)) };
      levels.push(level);
      terminal.out(levelLine(level));
      await writeFiles({ kind, levels }, flags);
      if (!level.stable) terminal.setExitCode(level.requests > 0 ? EXIT_PARTLY : EXIT_FAILED);
      if (level.requests === 0) return;
      if (isTooSlow(level, flags)) {
        const { percentile, latencyThreshold: most } = flags;
        terminal.out(`p${percentile} is above ${most} ms: no higher level is measured.`);
        return;
      }
    }
  } catch (error) {
    if (interrupt.received === null) throw error;
    terminal.setExitCode(exitCodeOf(interrupt.received));
  } finally {
    interrupt.unlisten();
  }
}

function isTooSlow({ deciding_ms: ms }: MeasuredLevel, { latencyThreshold }: BenchFlags): boolean {
  return latencyThreshold > 0 && ms > latencyThreshold;
}

/** Takes the images in turn. */
async function senderOf(flags: BenchFlags): Promise<Send> {
  const { image = [], upload = [], model } = flags;
  const name = model === undefined ? model : withSuffix(model);
  const files = await Promise.all(upload.map((file) => bodyOfFile(file, name)));
  const bodies = [...image.map((path) => bodyOfPath(path, name)), ...files];
  const [first] = bodies;
  if (first === undefined) {
    throw new UsageError(
      'Name what to send: --image PATH as the service sees it, or --upload FILE of this machine.',
    );
  }
  const access = { url: flags.url, apiKeyFile: flags.apiKeyFile };
  const { url } = openClient(access);
  const { apiKey } = serviceAccess(access);
  let turn = 0;
  return () => sendImage(url, apiKey, bodies[turn++ % bodies.length] ?? first);
}

function startLoad(load: number, flags: BenchFlags, send: Send, note: Note): Load {
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
