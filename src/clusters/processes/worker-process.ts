/** One worker process on this machine: started, started again when it ends, killed when it hangs, stopped. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { inTime } from '../../base/in-time.js';
import type { Logger } from '../../base/logger-port.js';
import { environmentName } from '../../settings/config.js';
import { RestartPolicy } from './restart-policy.js';

export interface WorkerProcessParts {
  workerId: string;
  /** Program and arguments. */
  command: readonly [string, ...string[]];
  env: Readonly<Record<string, string | undefined>>;
  /** Sent as the first line of its standard input. */
  token: string;
  logger: Logger;
  policy?: RestartPolicy;
  joinWithinMs?: number;
}

/** An engine is built after the worker has joined; loading the libraries and one model takes seconds. */
const JOIN_WITHIN_MS = 120_000;
/** The last of its standard error is the reason shown when it is left out. */
const KEPT_CHARACTERS = 2_000;
const LAST_OUTPUT_MS = 200;

/** A worker process. Its standard input stays open while this process lives: the worker ends when the pipe closes. */
export class WorkerProcess {
  readonly workerId: string;
  readonly #parts: WorkerProcessParts;
  readonly #policy: RestartPolicy;
  readonly #stop = new AbortController();
  #child: ChildProcess | null = null;
  #running: Promise<void> | null = null;
  #hasJoined = false;
  #joinTimer: NodeJS.Timeout | undefined;
  #killedFor: string | null = null;
  #lastOutput = '';
  #failure: string | null = null;

  constructor(parts: WorkerProcessParts) {
    this.workerId = parts.workerId;
    this.#parts = parts;
    this.#policy = parts.policy ?? new RestartPolicy();
  }

  /** Why it is left out: a clause, from many failed starts until it has joined; else null. */
  get failure(): string | null {
    return this.#failure;
  }

  /** `serviceUrl`: what it dials. Does not wait. */
  start(serviceUrl: string): void {
    this.#running ??= this.#run(serviceUrl);
  }

  /** The worker has connected to the service. */
  joined(): void {
    this.#hasJoined = true;
    this.#failure = null;
    clearTimeout(this.#joinTimer);
  }

  /** Ends a process that hangs, a stopped one too; it is started again. */
  kill(reason: string): void {
    this.#killedFor ??= reason;
    this.#child?.kill('SIGKILL');
  }

  /** SIGTERM, and SIGKILL after `graceMs`. Resolves when the process has ended; never rejects. */
  async stop(graceMs: number): Promise<void> {
    this.#stop.abort();
    this.#child?.kill('SIGTERM');
    const timer = setTimeout(() => {
      this.kill('It did not stop in time.');
    }, graceMs);
    await this.#running;
    clearTimeout(timer);
  }

  async #run(serviceUrl: string): Promise<void> {
    const { workerId, logger } = this.#parts;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const startedAt = performance.now();
      const reason = await this.#life(serviceUrl);
      if (this.#stop.signal.aborted) return;
      const lifeMs = performance.now() - startedAt;
      const waitMs = this.#policy.afterEnd(lifeMs, this.#hasJoined);
      if (this.#policy.isFailing) {
        this.#failure = reason;
        logger.error(
          { workerId, reason, waitMs },
          'a worker process fails at its start and is left out until a later start succeeds',
        );
      } else {
        logger.warn(
          { workerId, reason, lifeMs, waitMs },
          'a worker process ended; starting it again',
        );
      }
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Runs the process once, until it ends; resolves with how it ended. */
  async #life(serviceUrl: string): Promise<string> {
    const { command, env, token, workerId, logger, joinWithinMs = JOIN_WITHIN_MS } = this.#parts;
    const [program, ...args] = command;
    this.#hasJoined = false;
    this.#killedFor = null;
    this.#lastOutput = '';
    const child = spawn(program, args, {
      env: { ...env, [environmentName('serviceUrl')]: serviceUrl },
      stdio: ['pipe', 'inherit', 'pipe'],
      // A process group of its own: Ctrl-C in a terminal stops the service, which then stops the worker.
      detached: true,
    });
    this.#child = child;
    child.on('error', () => undefined); // of a kill; that of the spawn is caught below
    child.stdin.on('error', () => undefined); // it ended before it read
    child.stdin.write(`${token}\n`);
    child.stderr.on('data', (chunk: Buffer) => {
      process.stderr.write(chunk);
      this.#lastOutput = (this.#lastOutput + chunk.toString()).slice(-KEPT_CHARACTERS);
    });
    this.#joinTimer = setTimeout(() => {
      this.kill(`It did not connect within ${joinWithinMs / 1_000} s.`);
    }, joinWithinMs);
    logger.info({ workerId, workerPid: child.pid }, 'worker process started');
    try {
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
      // Wait for its last output; a process that it started may hold the pipe for longer.
      await inTime(once(child.stderr, 'close'), LAST_OUTPUT_MS, null);
      return this.#howItEnded(signal ?? `exit code ${code ?? -1}`);
    } catch (error) {
      return `cannot be started: ${String(error)}`;
    } finally {
      this.#child = null;
      clearTimeout(this.#joinTimer);
    }
  }

  #howItEnded(ended: string): string {
    if (this.#killedFor !== null) return `killed: ${this.#killedFor}`;
    const lastLine = this.#lastOutput.trimEnd().split('\n').at(-1) ?? '';
    return lastLine === '' ? `ended with ${ended}` : `ended with ${ended}: ${lastLine}`;
  }
}
