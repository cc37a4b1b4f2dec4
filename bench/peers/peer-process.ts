/**
 * A server in a process group of its own. While others are measured the whole group is stopped by SIGSTOP: a paused
 * server uses no CPU, whatever its thread pools do when they are idle. A group that was started ends with this process.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const START_LIMIT_MS = 180_000;
const STOP_LIMIT_MS = 5_000;
/** Linux shows times in hundredths of a second. */
const MS_PER_TICK = 10;
const KEPT_OUTPUT = 4_000;

export interface Command {
  program: string;
  /** Arguments of the process, which listens on the loopback port. */
  args(port: number): string[];
  cwd: string;
  env: Record<string, string>;
}

const started = new Set<number>();
process.once('exit', () => {
  for (const group of started) signal(group, 'SIGKILL');
});

export class PeerProcess {
  readonly url: string;
  readonly #group: number;
  #ticksAtPause = 0;
  #ticksInPauses = 0;

  private constructor(url: string, group: number) {
    this.url = url;
    this.#group = group;
  }

  /** Resolves once `probe` does with its URL. Rejects with the last output of a server that ends or never answers. */
  static async start(
    command: Command,
    probe: (url: string) => Promise<unknown>,
  ): Promise<PeerProcess> {
    const port = await freePort();
    const child = spawn(command.program, command.args(port), {
      cwd: command.cwd,
      env: { ...process.env, ...command.env, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // a process group of its own
    });
    const output = collect(child);
    const failed = (what: string) =>
      new Error(`${command.program} ${command.args(port).join(' ')} ${what}:\n${output()}`);
    if (child.pid === undefined) throw failed('cannot be started');
    started.add(child.pid);
    const server = new PeerProcess(`http://127.0.0.1:${port}`, child.pid);
    const deadline = Date.now() + START_LIMIT_MS;
    for (;;) {
      try {
        await probe(server.url);
        return server;
      } catch (error) {
        if (child.exitCode !== null) throw failed('has ended');
        if (Date.now() > deadline) throw failed(`does not answer (${String(error)})`);
        await sleep(200);
      }
    }
  }

  /** Resolves once every process of the group is stopped. */
  async pause(): Promise<void> {
    signal(this.#group, 'SIGSTOP');
    const deadline = Date.now() + STOP_LIMIT_MS;
    while (this.#processes().some(({ stopped }) => !stopped)) {
      if (Date.now() > deadline) throw new Error(`Process group ${this.#group} does not stop.`);
      await sleep(1);
    }
    this.#ticksAtPause = this.#ticks();
  }

  resume(): void {
    this.#ticksInPauses += this.#ticks() - this.#ticksAtPause;
    signal(this.#group, 'SIGCONT');
  }

  /** Memory of all processes of the group. Pages that several of them share count for each. */
  residentBytes(): number {
    return this.#processes().reduce((sum, { residentBytes }) => sum + residentBytes, 0);
  }

  /** Time that it computed although it was paused; the kernel counts in steps of 10 ms. */
  cpuMsInPauses(): number {
    return this.#ticksInPauses * MS_PER_TICK;
  }

  kill(): void {
    signal(this.#group, 'SIGKILL');
    started.delete(this.#group);
  }

  #ticks(): number {
    return this.#processes().reduce((sum, { cpuTicks }) => sum + cpuTicks, 0);
  }

  #processes(): GroupMember[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => readMember(pid, this.#group) ?? []);
  }
}

interface GroupMember {
  stopped: boolean;
  residentBytes: number;
  cpuTicks: number;
}

/** Null for a process of another group, and one that has ended. */
function readMember(pid: string, group: number): GroupMember | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name before the fields may hold spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = '', , member] = fields;
    if (Number(member) !== group || state === 'Z') return null;
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const kib = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
    return {
      stopped: state === 'T',
      residentBytes: kib * 1_024,
      cpuTicks: Number(fields[11]) + Number(fields[12]),
    };
  } catch {
    return null;
  }
}

function signal(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(-group, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function collect(child: ChildProcess): () => string {
  let output = '';
  const take = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-KEPT_OUTPUT);
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  child.on('error', (error) => (output += String(error)));
  return () => output;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
  });
}
