/** Keeps a service running, as a supervisor does, and disturbs it. Every choice follows from the seed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultyDisk } from '../../test/support/faulty-disk.js';
import type { MovedClock } from '../../test/support/moved-clock.js';
import { FEW_THREADS } from '../../test/support/service-client.js';
import { startService, type ServiceProcess } from '../../test/support/service-process.js';

/** EX_IOERR: the service says that its store has to be opened again. */
const STORE_LOST = 74;
const STARTS = 20;
const DAY_S = 86_400;
/** Where the clock is set to. */
const DAYS_AHEAD = { least: -2, most: 3_650 };

export interface NemesisParts {
  dataDir: string;
  imageRoot: string;
  /** Null: no fault of the disk. */
  disk: FaultyDisk | null;
  /** Null: the clock is never set. */
  clock: MovedClock | null;
  random: () => number;
  unexpected: (what: string) => void;
}

export class Nemesis {
  url = '';
  readonly faults = new Map<string, number>();
  /** Milliseconds from a death to the next `listening`. */
  readonly restarts: number[] = [];
  readonly #parts: NemesisParts;
  #service: ServiceProcess | null = null;
  /** The end that the present fault brings. */
  #expected: number | string | null = null;
  #over = false;
  #supervision: Promise<void> = Promise.resolve();

  private constructor(parts: NemesisParts) {
    this.#parts = parts;
  }

  static async begin(parts: NemesisParts): Promise<Nemesis> {
    const nemesis = new Nemesis(parts);
    nemesis.#service = await nemesis.#start();
    nemesis.url = nemesis.#service.url;
    nemesis.#supervision = nemesis.#supervise();
    return nemesis;
  }

  /** One fault after the other until `isOver`; resolves when all is well again. */
  async disturb(isOver: () => boolean): Promise<void> {
    const { random, disk, clock } = this.#parts;
    const kinds: [string, () => Promise<void>][] = [
      ['kill -9', () => this.#endBy('SIGKILL', 'SIGKILL')],
      ['SIGTERM', () => this.#endBy('SIGTERM', 0)],
      ['SIGSTOP', () => this.#pause(500 + 4_500 * random())],
    ];
    if (disk !== null) {
      kinds.push(
        ['EIO of a write', () => this.#loseStore(disk, 'write')],
        ['EIO of a sync', () => this.#loseStore(disk, 'sync')],
        ['full disk', () => this.#fillDisk(disk, 500 + 2_500 * random())],
        ['kill at a write', () => this.#killAt(disk, 'write')],
        ['kill before a sync', () => this.#killAt(disk, 'sync')],
        ['kill after a sync', () => this.#killAt(disk, 'synced')],
      );
    }
    if (clock !== null) kinds.push(['jump of the clock', () => this.#setClock(clock)]);
    while (!isOver()) {
      await sleep(500 + 2_500 * random());
      const [name, run] = kinds[Math.floor(random() * kinds.length)]!;
      this.faults.set(name, (this.faults.get(name) ?? 0) + 1);
      await run();
      await this.#well();
    }
  }

  async stop(): Promise<void> {
    this.#over = true;
    await this.#service?.kill('SIGTERM');
    await this.#supervision;
  }

  async #endBy(signal: NodeJS.Signals, expected: number | string): Promise<void> {
    this.#expected = expected;
    await this.#service?.kill(signal);
  }

  async #pause(ms: number): Promise<void> {
    const pid = this.#service?.pid ?? 0;
    process.kill(pid, 'SIGSTOP');
    await sleep(ms);
    process.kill(pid, 'SIGCONT');
  }

  #setClock(clock: MovedClock): Promise<void> {
    const { least, most } = DAYS_AHEAD;
    clock.set(DAY_S * (least + (most - least) * this.#parts.random()));
    return Promise.resolve();
  }

  async #loseStore(disk: FaultyDisk, call: 'write' | 'sync'): Promise<void> {
    await this.#endAt(disk, STORE_LOST, () => {
      disk.fail(call, 'EIO', 'once');
    });
  }

  async #killAt(disk: FaultyDisk, call: 'write' | 'sync' | 'synced'): Promise<void> {
    await this.#endAt(disk, 'SIGKILL', () => {
      disk.kill(call);
    });
  }

  async #endAt(disk: FaultyDisk, expected: number | string, arm: () => void): Promise<void> {
    this.#expected = expected;
    const exited = this.#service?.exited;
    arm();
    // Where nothing is written in this time, the fault does not come.
    await Promise.race([exited, sleep(10_000, undefined, { ref: false })]);
    disk.heal();
  }

  async #fillDisk(disk: FaultyDisk, ms: number): Promise<void> {
    disk.fail('write', 'ENOSPC', 'on');
    await sleep(ms);
    disk.heal();
  }

  async #supervise(): Promise<void> {
    for (;;) {
      const service = this.#service;
      const code = await service?.exited;
      if (this.#over) return;
      const diedAt = performance.now();
      if (code !== this.#expected) {
        this.#parts.unexpected(`the service ended with ${code}: ${service?.output().slice(-500)}`);
      }
      this.#service = null;
      this.#service = await this.#start();
      this.#expected = null;
      this.restarts.push(performance.now() - diedAt);
    }
  }

  /** As a supervisor: again after a start that failed. */
  async #start(): Promise<ServiceProcess> {
    const { dataDir, imageRoot, disk, clock } = this.#parts;
    const preloads = [disk, clock].flatMap((fault) => fault?.env.LD_PRELOAD ?? []);
    const env = {
      ...FEW_THREADS,
      ...disk?.env,
      ...clock?.env,
      LD_PRELOAD: preloads.join(':'),
      LATTICE_IMAGE_ROOTS: imageRoot,
    };
    // The same port at each start.
    const flags = this.url === '' ? [] : ['--port', new URL(this.url).port];
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await startService({ dataDir, env, flags, timeoutMs: 60_000 });
      } catch (error) {
        if (attempt === STARTS) throw error;
        await sleep(200);
      }
    }
  }

  async #well(): Promise<void> {
    for (;;) {
      const ready = await fetch(`${this.url}/readyz`).catch(() => null);
      if (ready?.status === 200) return;
      await sleep(50);
    }
  }
}
