/** Starts the workers on a Ray cluster: `lattice_ray up`, as a job of the cluster. */
import { setTimeout as sleep } from 'node:timers/promises';
import { BackOff } from '../../base/back-off.js';
import type { Logger } from '../../base/logger-port.js';
import { parseDashboardUrl, RayDashboard } from './ray-dashboard.js';
import { RayJobs } from './ray-jobs.js';
import { readRayToken } from './ray-token.js';
import { packWorkers } from './worker-package.js';

const UP_DEADLINE_MS = 120_000;
const LOGGED_LINES = 20;
/** The sentence with which `up` leaves the workers to another service. */
const OWNER = /belong to the service at (\S+): /;

/** Milliseconds. */
export interface RayWorkersTimes {
  upDeadline: number;
  leastBackOff: number;
  mostBackOff: number;
}

export interface RayWorkersOptions {
  /** `LATTICE_RAY_DASHBOARD`. */
  dashboard: string;
  namespace: string;
  /** `auto` or a number. */
  workers: string;
  /** ws://HOST:PORT at which the workers reach this service. */
  serviceUrl: string;
  /** The command of each worker. */
  command: string;
  /** Environment of the command. The dashboard shows it, so it must have no secrets. */
  env: Readonly<Record<string, string>>;
  /** `LATTICE_RAY_TOKEN_FILE`; empty for none. */
  tokenFile: string;
  /** Version of this service. */
  version: string;
  /** Whether the cluster can be reached: a failed start is tried again only while it can. */
  connected: () => boolean;
  logger: Logger;
  /** The Python package, where it is not the one that comes with the service. */
  packageFolder?: string;
  times?: Partial<RayWorkersTimes>;
}

export class RayWorkers {
  readonly #options: RayWorkersOptions;
  readonly #url: URL;
  readonly #times: RayWorkersTimes;
  readonly #stop = new AbortController();
  #failure: string | null = null;
  /** The service to which `up` left the workers. A new head does not know it, so `up` has to be told. */
  #owner: string | null = null;
  #wanted = false;
  #running: Promise<void> | null = null;

  /** Sends no request. Throws a `ConfigError` for an unusable dashboard address. */
  constructor(options: RayWorkersOptions) {
    this.#options = options;
    this.#url = parseDashboardUrl(options.dashboard);
    this.#times = {
      upDeadline: UP_DEADLINE_MS,
      leastBackOff: 1_000,
      mostBackOff: 60_000,
      ...options.times,
    };
  }

  /**
   * Starts the missing workers in the background; running workers stay. While one start runs, any number of further
   * calls make one more after it. Failures are logged and tried again.
   */
  startWorkers(): void {
    this.#wanted = true;
    this.#running ??= this.#run();
  }

  /** Why the last start failed, a sentence; null after a start that succeeded. */
  get failure(): string | null {
    return this.#failure;
  }

  /** The workers stay. Never rejects. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const backOff = new BackOff(this.#times.leastBackOff, this.#times.mostBackOff);
    const { signal } = this.#stop;
    while (this.#wanted) {
      this.#wanted = false;
      try {
        await this.#start();
        this.#failure = null;
        this.#owner = null;
        backOff.reset();
      } catch (error) {
        if (signal.aborted) break;
        this.#noteFailure(error);
        await sleep(backOff.next(), undefined, { signal }).catch(() => null);
        this.#wanted ||= this.#options.connected();
      }
      if (signal.aborted) break;
    }
    this.#running = null;
  }

  #noteFailure(error: unknown): void {
    const { namespace, logger } = this.#options;
    const reason = error instanceof Error ? error.message : String(error);
    this.#failure = `The workers cannot be started through ${this.#url.origin}: ${reason}.`;
    logger.warn({ namespace }, this.#failure);
  }

  /** Rejects with what is wrong as a clause. */
  async #start(): Promise<void> {
    const { namespace, version, tokenFile, packageFolder, logger } = this.#options;
    const token = await readRayToken(tokenFile);
    const archive = await packWorkers(packageFolder);
    const jobs = new RayJobs(new RayDashboard(this.#url, token, this.#stop.signal));
    await jobs.upload(archive);
    // The cluster refuses an id that it has seen.
    const submissionId = `lattice-${namespace}-${version}-${Date.now()}`;
    const startedAt = performance.now();
    await jobs.submit({ submissionId, entrypoint: this.#entrypoint(), packages: [archive.name] });
    const ended = await jobs.follow(submissionId, this.#times.upDeadline);
    const tookMs = Math.round(performance.now() - startedAt);
    if (ended?.status === 'SUCCEEDED') {
      logger.info({ job: submissionId, namespace, tookMs }, 'workers of the cluster are up');
      return;
    }
    // Two at a time could place workers twice.
    if (ended === null) await jobs.stop(submissionId);
    const lines = await jobs.lastLines(submissionId, LOGGED_LINES).catch(() => '');
    logger.warn({ job: submissionId, lines, message: ended?.message }, 'starting workers failed');
    const how = ended === null ? 'has not ended in time' : `ended ${ended.status}`;
    this.#owner = OWNER.exec(lines)?.[1] ?? this.#owner;
    const last = lines.trimEnd().split('\n').at(-1)?.trim().replace(/\.$/, '') ?? '';
    throw new Error(`the job ${submissionId} ${how}: ${last || 'it wrote nothing'}`);
  }

  #entrypoint(): string {
    const { namespace, workers, serviceUrl, command, env } = this.#options;
    const words = ['python', '-m', 'lattice_ray', 'up', '--namespace', namespace];
    words.push('--workers', workers, '--service', serviceUrl, '--command', command);
    if (this.#owner !== null) words.push('--after', this.#owner);
    for (const [key, value] of Object.entries(env)) words.push('--env', `${key}=${value}`);
    return shellWords(words);
  }
}

/** One command line for a POSIX shell that gives exactly these words. No word may hold a NUL. */
export function shellWords(words: readonly string[]): string {
  const quote = (word: string) =>
    /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
  return words.map(quote).join(' ');
}
