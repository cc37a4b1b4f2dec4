/** Scans watched folders in processes of their own, which are ended when a volume does not answer. */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { LatticeError } from '../api/errors.js';
import type { FolderScan, ScanSpec } from './listing/folder-scan.js';
import type { FromScanner, ScanCall, ToScanner } from './listing/scan-process.js';

/** Of the versions of half a million files, and the lists of a scan. */
const MOST_HEAP_MB = 1_024;
/** A process that works says so every second. */
const SILENT_MS = 15_000;

type Result<C extends ScanCall> = Awaited<ReturnType<FolderScan[C]>>;

/** The folders of one watch. Every call rejects with `volume_unavailable` where they do not answer; then open them again. */
export interface OpenFolders {
  call<C extends ScanCall>(call: C, ...args: Parameters<FolderScan[C]>): Promise<Result<C>>;
  close(): void;
}

interface Question {
  watch: number;
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

interface Lane {
  name: string;
  child: ChildProcess;
  questions: Map<number, Question>;
  told: Map<number, (what: 'due' | 'scan') => void>;
  /** The watch that it works on. */
  at: number;
  silent: NodeJS.Timeout | undefined;
}

export class FolderScanner {
  readonly #silentMs: number;
  readonly #lanes = new Map<string, Lane>();
  /** Watches whose folders have not answered: each has a process of its own, so that it delays no other. */
  readonly #apart = new Set<number>();
  #lastId = 0;

  constructor(silentMs = SILENT_MS) {
    this.#silentMs = silentMs;
  }

  /** `told`: files are at rest, or a scan would find something. */
  open(spec: ScanSpec, told: (what: 'due' | 'scan') => void): OpenFolders {
    const { watch } = spec;
    const lane = this.#lane(this.#apart.has(watch) ? `watch ${watch}` : 'all');
    lane.told.set(watch, told);
    this.#send(lane, { open: spec });
    return {
      call: (call, ...args) => this.#ask(lane, watch, call, args) as Promise<never>,
      close: () => {
        if (!lane.told.delete(watch)) return;
        this.#send(lane, { close: watch });
        if (lane.told.size === 0) this.#end(lane, new Error('The watch was closed.'));
      },
    };
  }

  close(): void {
    for (const lane of [...this.#lanes.values()]) this.#end(lane, hangs());
  }

  #ask(lane: Lane, watch: number, call: ScanCall, args: unknown[]): Promise<unknown> {
    if (this.#lanes.get(lane.name) !== lane) return Promise.reject(hangs());
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      lane.questions.set(id, { watch, resolve, reject });
      if (lane.questions.size === 1) this.#listen(lane);
      this.#send(lane, { id, watch, call, args });
    });
  }

  /** It has said something, or has been asked: from here on it may be silent for a time. */
  #listen(lane: Lane): void {
    clearTimeout(lane.silent);
    if (lane.questions.size === 0) return;
    lane.silent = setTimeout(() => {
      this.#apart.add(lane.at);
      this.#end(lane, hangs());
    }, this.#silentMs).unref();
  }

  #send(lane: Lane, message: ToScanner): void {
    // What cannot be sent is rejected when the process has ended.
    if (lane.child.connected) lane.child.send(message, () => undefined);
  }

  #lane(name: string): Lane {
    const known = this.#lanes.get(name);
    if (known !== undefined) return known;
    const child = fork(fileURLToPath(new URL('./listing/scan-process.js', import.meta.url)), {
      execArgv: [...process.execArgv, `--max-old-space-size=${MOST_HEAP_MB}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const questions = new Map<number, Question>();
    const lane: Lane = { name, child, questions, told: new Map(), at: 0, silent: undefined };
    this.#lanes.set(name, lane);
    child.on('message', (message) => {
      this.#receive(lane, message as FromScanner);
    });
    for (const event of ['error', 'exit'] as const) {
      child.on(event, () => {
        this.#end(lane, new Error('The process that scans folders has ended.'));
      });
    }
    // Last: a listener for messages makes the channel keep the process alive again.
    child.unref();
    child.channel?.unref();
    return lane;
  }

  #receive(lane: Lane, message: FromScanner): void {
    if ('alive' in message) lane.at = message.alive;
    else if ('told' in message) lane.told.get(message.watch)?.(message.told);
    else {
      const question = lane.questions.get(message.id);
      lane.questions.delete(message.id);
      if ('value' in message) question?.resolve(message.value);
      else question?.reject(new Error(message.failure));
    }
    this.#listen(lane);
  }

  #end(lane: Lane, reason: Error): void {
    if (this.#lanes.get(lane.name) !== lane) return;
    this.#lanes.delete(lane.name);
    clearTimeout(lane.silent);
    lane.child.kill('SIGKILL');
    for (const { reject } of lane.questions.values()) reject(reason);
    lane.questions.clear();
  }
}

function hangs(): LatticeError {
  return new LatticeError('volume_unavailable', 'The volume does not answer.', { retryAfterS: 10 });
}
