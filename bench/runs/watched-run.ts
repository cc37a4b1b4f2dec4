/** Calls `lattice run` as a user does, and measures the process while it runs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { PROJECT_ROOT } from '../../test/support/service-process.js';

/** Memory is read at this interval. */
const LOOK_MS = 500;

/** A line of progress. */
export interface ProgressLine {
  /** Seconds since the start of the process. */
  at: number;
  done: number;
  total: number;
  /** As printed; null where the line does not tell it. */
  secondsLeft: number | null;
}

export interface WatchedRun {
  /** Null: ended by a signal. */
  code: number | null;
  out: string;
  err: string;
  seconds: number;
  lines: ProgressLine[];
  /** Most resident memory of the process and its children together. */
  mostMib: number;
  /** The same with memory that several of them share counted once. */
  mostOwnMib: number;
  /** Resident memory at each whole minute. */
  mibByMinute: number[];
}

/** `killAfter`: seconds after which the process and its children get SIGKILL; null: never. */
export async function watchRun(
  args: readonly string[],
  killAfter: number | null,
): Promise<WatchedRun> {
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1_000;
  const child = spawn(process.execPath, ['dist/cli/lattice.js', 'run', ...args], {
    cwd: PROJECT_ROOT,
    detached: true,
  });
  const run: WatchedRun = {
    ...{ code: null, out: '', err: '', seconds: 0, lines: [] },
    ...{ mostMib: 0, mostOwnMib: 0, mibByMinute: [] },
  };
  child.stdout.on('data', (chunk: Buffer) => (run.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => {
    run.err += chunk.toString();
    run.lines.push(...linesOf(chunk.toString(), seconds()));
  });
  const pid = child.pid!;
  const looks = setInterval(() => {
    const { resident, own } = treeMib(pid);
    run.mostMib = Math.max(run.mostMib, resident);
    run.mostOwnMib = Math.max(run.mostOwnMib, own);
    run.mibByMinute[Math.floor(seconds() / 60)] ??= Math.round(resident);
  }, LOOK_MS);
  const kill = () => process.kill(-pid, 'SIGKILL');
  const killing = killAfter === null ? undefined : setTimeout(kill, killAfter * 1_000);
  const [code] = (await once(child, 'close')) as [number | null];
  clearInterval(looks);
  clearTimeout(killing);
  return { ...run, code, seconds: seconds() };
}

/** The line of a call that has ended: the whole line, and images per second as it tells them. */
export function doneLine(out: string): { text: string; perSecond: number } | null {
  const line = /^\d+ done.*; [\d.]+ s, ([\d.]+) images\/s$/m.exec(out);
  return line === null ? null : { text: line[0], perSecond: Number(line[1]) };
}

function linesOf(text: string, at: number): ProgressLine[] {
  const line = /^(\d+) of (\d+)(?: or more)? images.*$/gm;
  return [...text.matchAll(line)].map(([whole, done, total]) => {
    const left = / ([^,]*) left/.exec(whole)?.[1];
    const secondsLeft = left === undefined ? null : secondsOf(left);
    return { at, done: Number(done), total: Number(total), secondsLeft };
  });
}

/** `13.9 h`, `3 min 18 s`. */
function secondsOf(text: string): number {
  const parts = [...text.matchAll(/([\d.]+) (s|min|h)/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * SECONDS[unit as Unit], 0);
}

type Unit = keyof typeof SECONDS;
const SECONDS = { s: 1, min: 60, h: 3_600 };

/** The process and those that it has started, as the system has them now. */
function treeMib(root: number): { resident: number; own: number } {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const parent = /\) \S (\d+)/.exec(read(`/proc/${name}/stat`))?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const isOfTree = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined; at = parents.get(at)) {
      if (at === root) return true;
    }
    return false;
  };
  const tree = [...parents.keys()].filter(isOfTree);
  const mibOf = (file: string, line: RegExp) =>
    tree.reduce((sum, pid) => sum + Number(line.exec(read(`/proc/${pid}/${file}`))?.[1] ?? 0), 0) /
    1_024;
  return {
    resident: mibOf('status', /VmRSS:\s+(\d+)/),
    own: mibOf('smaps_rollup', /^Pss:\s+(\d+)/m),
  };
}

/** A process may end meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
