/** Scans watched folders in processes of their own, which are ended when a volume does not answer. */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { FolderScan, ScanSpec } from './listing/folder-scan.js';
import { volumeHangs } from './listing/image-lister.js';
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

interface ScanProcess {
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
  readonly #processes = new Map<string, ScanProcess>();
  /** Watches whose folders have not answered: each has a process of its own, so that it delays no other. */
  readonly #apart = new Set<number>();
  #lastId = 0;

  constructor(silentMs = SILENT_MS) {
    this.#silentMs = silentMs;
  }

  /** `told`: files are at rest, or a scan would find something. */
  open(spec: ScanSpec, told: (what: 'due' | 'scan') => void): OpenFolders {
    const { watch } = spec;
    const scanner = this.#process(this.#apart.has(watch) ? `watch ${watch}` : 'all');
    scanner.told.set(watch, told);
    this.#send(scanner, { open: spec });
    return {
      call: (call, ...args) => this.#ask(scanner, watch, call, args) as Promise<never>,
      close: () => {
        if (!scanner.told.delete(watch)) return;
        this.#send(scanner, { close: watch });
        if (scanner.told.size === 0) this.#end(scanner, new Error('The watch was closed.'));
      },
    };
  }

  close(): void {
    for (const scanner of [...this.#processes.values()]) this.#end(scanner, volumeHangs());
  }

  #ask(scanner: ScanProcess, watch: number, call: ScanCall, args: unknown[]): Promise<unknown> {
    if (this.#processes.get(scanner.name) !== scanner) return Promise.reject(volumeHangs());
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      scanner.questions.set(id, { watch, resolve, reject });
      if (scanner.questions.size === 1) this.#listen(scanner);
      this.#send(scanner, { id, watch, call, args });
    });
  }

  /** It has said something, or has been asked: from here on it may be silent for a time. */
  #listen(scanner: ScanProcess): void {
    clearTimeout(scanner.silent);
    if (scanner.questions.size === 0) return;
    scanner.silent = setTimeout(() => {
      this.#apart.add(scanner.at);
      this.#end(scanner, volumeHangs());
    }, this.#silentMs).unref();
  }

  #send(scanner: ScanProcess, message: ToScanner): void {
    // What cannot be sent is rejected when the process has ended.
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
    const scanner: ScanProcess = {
      name,
      child,
      questions,
      told: new Map(),
      at: 0,
      silent: undefined,
    };
    this.#processes.set(name, scanner);
    child.on('message', (message) => {
      this.#receive(scanner, message as FromScanner);
    });
    for (const event of ['error', 'exit'] as const) {
      child.on(event, () => {
        this.#end(scanner, new Error('The process that scans folders has ended.'));
      });
    }
    // Last: a listener for messages makes the channel keep the process alive again.
    child.unref();
    child.channel?.unref();
    return scanner;
  }

  #receive(scanner: ScanProcess, message: FromScanner): void {
    if ('alive' in message) scanner.at = message.alive;
    else if ('told' in message) scanner.told.get(message.watch)?.(message.told);
    else {
      const question = scanner.questions.get(message.id);
      scanner.questions.delete(message.id);
      if ('value' in message) question?.resolve(message.value);
      else question?.reject(new Error(message.failure));
    }
    this.#listen(scanner);
  }

  #end(scanner: ScanProcess, reason: Error): void {
    if (this.#processes.get(scanner.name) !== scanner) return;
    this.#processes.delete(scanner.name);
    clearTimeout(scanner.silent);
    scanner.child.kill('SIGKILL');
    for (const { reject } of scanner.questions.values()) reject(reason);
    scanner.questions.clear();
  }
}
