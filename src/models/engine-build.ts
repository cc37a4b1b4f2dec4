/** The build of a TensorRT engine, which takes minutes: its effect on requests, readiness and the log. */
import { LatticeError } from '../api/errors.js';
import { inTime } from '../base/in-time.js';
import type { Logger } from '../base/logger-port.js';

const LOOK_EVERY_MS = 200;
const LOG_EVERY_SHARE = 0.1;
const LEAST_RETRY_S = 1;
const MOST_RETRY_S = 600;
/** Before a tenth is done, the remaining time cannot be estimated. */
const FIRST_GUESS_S = 60;
const PENDING = Symbol('pending');

export interface EngineBuildOptions {
  /** Share 0 to 1 of the engine that is being built; -1 while none is. */
  share: () => number;
  logger: Logger;
}

export class EngineBuild {
  readonly #share: () => number;
  readonly #logger: Logger;
  #timer: NodeJS.Timeout | undefined;
  #startedAt: number | null = null;
  #logged = 0;

  constructor({ share, logger }: EngineBuildOptions) {
    this.#share = share;
    this.#logger = logger;
  }

  /** Keeps no process alive. */
  start(): void {
    this.#timer ??= setInterval(() => {
      this.#look();
    }, LOOK_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** `work`, or a rejection with `model_not_ready` if it turns out to wait for a build. */
  async orNotReady<T>(work: Promise<T>): Promise<T> {
    work.catch(() => undefined); // it goes on after a refusal
    for (;;) {
      const refusal = this.notReady();
      if (refusal !== null) throw refusal;
      const done = await inTime(work, LOOK_EVERY_MS, PENDING);
      if (done !== PENDING) return done;
    }
  }

  /** `model_not_ready` with how far it is and when to ask again; null while no engine is built. */
  notReady(): LatticeError | null {
    this.#look();
    if (this.#startedAt === null) return null;
    const share = this.#share();
    const percent = Math.floor(Math.max(0, share) * 100);
    return new LatticeError(
      'model_not_ready',
      `The engine of the model is being built for this GPU: ${percent} % done.`,
      { retryAfterS: retryAfter(share, performance.now() - this.#startedAt) },
    );
  }

  #look(): void {
    const share = this.#share();
    if (share < 0) {
      this.#startedAt = null;
      this.#logged = 0;
      return;
    }
    if (this.#startedAt === null) {
      this.#startedAt = performance.now();
      this.#logger.info({}, 'building the TensorRT engine; it is kept for later starts');
    }
    if (share >= this.#logged + LOG_EVERY_SHARE) {
      this.#logged = share;
      this.#logger.info({ percent: Math.floor(share * 100) }, 'building the TensorRT engine');
    }
  }
}

/** Estimated seconds until the engine is ready. */
export function retryAfter(share: number, elapsedMs: number): number {
  if (share < LOG_EVERY_SHARE) return FIRST_GUESS_S;
  const left = ((elapsedMs / share) * (1 - share)) / 1_000;
  return Math.min(MOST_RETRY_S, Math.max(LEAST_RETRY_S, Math.ceil(left)));
}
