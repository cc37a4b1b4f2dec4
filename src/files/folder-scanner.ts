/** Scans watched folders in processes of their own, which are ended when a volume does not answer. */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { limitOwnTime } from '../base/own-time.js';
import type { FolderScan, ScanSpec } from './listing/folder-scan.js';
import { volumeHangs } from './listing/image-lister.js';
import { overloaded } from './listing/listing-processes.js';
import type { FromScanner, ScanCall, ToScanner } from './listing/scan-process.js';

/** Heap for the versions of half a million files and the lists of a scan. */
const MOST_HEAP_MB = 1_024;
/**
 * A working process reports every second. It is ended after this long without a report; time without a CPU is not
 * counted.
 */
const SILENT_MS = 15_000;
/** Limit for the start of a process, in which no volume is read. */
const START_MS = 60_000;
/** The process of the watches whose folders answer. */
const ALL = 'all';

type Result<C extends ScanCall> = Awaited<ReturnType<FolderScan[C]>>;

/**
 * The folders of one watch. A call rejects with
 * `volume_unavailable` where they do not answer, `machine_overloaded` where the process could not start, else where it
 * had to be ended: then open them again.
 */
export interface OpenFolders {
  call<C extends ScanCall>(call: C, ...args: Parameters<FolderScan[C]>): Promise<Result<C>>;
  close(): void;
}

const HANGING: OpenFolders = {
  call: () => Promise.reject(volumeHangs()),
  close: () => undefined,
};

interface Question {
  watch: number;
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

interface ScanProcess {
  name: string;
  child: ChildProcess;
  questions: Map<number, Question>;
  told: Map<number, (what: 'stable' | 'scan') => void>;
  /** Limit of its start; null once it is ready. */
  starting: NodeJS.Timeout | null;
  /** The watch that it worked on last. */
  currentWatch: number;
  heardAt: number;
  /** Ends the time limit of each watch whose question is open, by watch. */
  silent: Map<number, () => void>;
}

export class FolderScanner {
  readonly #silentMs: number;
  readonly #processes = new Map<string, ScanProcess>();
  /** Watches whose folders have not answered: each has a process of its own, so that it delays no other. */
  readonly #apart = new Set<number>();
  /**
   * Processes that were ended and still wait for their volume in the kernel: each has no successor until it is gone.
   */
  readonly #ending = new Set<string>();
  #lastId = 0;

  constructor(silentMs = SILENT_MS) {
    this.#silentMs = silentMs;
  }

  /** `told`: files are stable, or a scan would find something. */
  open(spec: ScanSpec, told: (what: 'stable' | 'scan') => void): OpenFolders {
    const { watch } = spec;
    const name = this.#apart.has(watch) ? `watch ${watch}` : ALL;
    if (this.#ending.has(name)) return HANGING;
    const scanner = this.#process(name);
    scanner.told.set(watch, told);
    this.#send(scanner, { open: spec });
    return {
      call: (call, ...args) => this.#ask(scanner, watch, call, args) as Promise<never>,
      close: () => {
        if (!scanner.told.delete(watch)) return;
        this.#send(scanner, { close: watch });
        if (scanner.told.size === 0) this.#end(scanner);
      },
    };
  }

  close(): void {
    for (const scanner of [...this.#processes.values()]) this.#end(scanner);
  }

  #ask(scanner: ScanProcess, watch: number, call: ScanCall, args: unknown[]): Promise<unknown> {
    if (this.#processes.get(scanner.name) !== scanner) return Promise.reject(this.#ended(watch));
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      scanner.questions.set(id, { watch, resolve, reject });
      if (!scanner.silent.has(watch)) this.#listen(scanner, watch);
      this.#send(scanner, { id, watch, call, args });
    });
  }

  /** The watch has said something, or has been asked: from here on it may be silent for a time. */
  #listen(scanner: ScanProcess, watch: number): void {
    scanner.silent.get(watch)?.();
    scanner.silent.delete(watch);
    if (scanner.starting !== null) return;
    if (![...scanner.questions.values()].some((question) => question.watch === watch)) return;
    const end = () => {
      // While others are heard, the process works, and only this watch waits for its volume.
      const isHeard = performance.now() - scanner.heardAt < this.#silentMs;
      this.#apart.add(isHeard ? watch : scanner.currentWatch);
      if (scanner.name !== ALL) {
        this.#ending.add(scanner.name);
        scanner.child.once('exit', () => this.#ending.delete(scanner.name));
      }
      this.#end(scanner);
    };
    scanner.silent.set(watch, limitOwnTime(scanner.child.pid ?? 0, this.#silentMs, end));
  }

  #send(scanner: ScanProcess, message: ToScanner): void {
    // A message that cannot be sent is rejected when the process has ended.
    if (scanner.child.connected) scanner.child.send(message, () => undefined);
  }

  #process(name: string): ScanProcess {
    const known = this.#processes.get(name);
    if (known !== undefined) return known;
    const child = fork(fileURLToPath(new URL('./listing/scan-process.js', import.meta.url)), {
      execArgv: [...process.execArgv, `--max-old-space-size=${MOST_HEAP_MB}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const questions = new Map<number, Question>();
    const starting = setTimeout(() => {
      this.#end(scanner, overloaded('the process that scans folders has not started in time'));
    }, START_MS).unref();
    const scanner: ScanProcess = {
      name,
      child,
      questions,
      told: new Map(),
      starting,
      currentWatch: 0,
      heardAt: -Infinity,
      silent: new Map(),
    };
    this.#processes.set(name, scanner);
    child.on('message', (message) => {
      this.#receive(scanner, message as FromScanner);
    });
    for (const event of ['error', 'exit'] as const) {
      child.on(event, () => {
        this.#end(scanner);
      });
    }
    // Last: a listener for messages makes the channel keep the process alive again.
    child.unref();
    child.channel?.unref();
    return scanner;
  }

  #receive(scanner: ScanProcess, message: FromScanner): void {
    scanner.heardAt = performance.now();
    if ('ready' in message) {
      clearTimeout(scanner.starting ?? undefined);
      scanner.starting = null;
      for (const { watch } of scanner.questions.values()) this.#listen(scanner, watch);
    } else if ('alive' in message) {
      scanner.currentWatch = message.alive;
      this.#listen(scanner, message.alive);
    } else if ('told' in message) scanner.told.get(message.watch)?.(message.told);
    else {
      const question = scanner.questions.get(message.id);
      if (question === undefined) return;
      scanner.questions.delete(message.id);
      this.#listen(scanner, question.watch);
      if ('value' in message) question.resolve(message.value);
      else question.reject(new Error(message.failure));
    }
  }

  #end(scanner: ScanProcess, why?: Error): void {
    if (this.#processes.get(scanner.name) !== scanner) return;
    this.#processes.delete(scanner.name);
    clearTimeout(scanner.starting ?? undefined);
    for (const endLimit of scanner.silent.values()) endLimit();
    scanner.child.kill('SIGKILL');
    for (const { watch, reject } of scanner.questions.values()) reject(why ?? this.#ended(watch));
    scanner.questions.clear();
  }

  /** Why a question of the watch has no answer. */
  #ended(watch: number): Error {
    if (this.#apart.has(watch)) return volumeHangs();
    return new Error('The process that scans folders was started anew.');
  }
}
