/** Runs the canary on every fresh model and, at intervals, on the loaded ones. */
import { LatticeError, toLatticeError } from '../errors.js';
import { Canary, readKnownPicture, type CanaryPicture } from './canary.js';
import type { Detection } from './detector.js';
import type { Logger } from './logger.js';
import type { LoadedModel } from './loaded-model.js';

/** A device that gives no answer for this long is stuck, not busy: the check goes in front of other work. */
const ANSWER_WITHIN_MS = 60_000;
/** These say nothing about the model. */
const INCONCLUSIVE = new Set(['cancelled', 'shutting_down', 'overloaded', 'deadline_exceeded']);

export interface CanaryWatchOptions {
  /** Boxes of a picture at confidence 0, all classes. */
  look(model: LoadedModel, picture: CanaryPicture): Promise<Detection[]>;
  /** For models that come without a picture of their own. */
  picture: CanaryPicture;
  /** The models to check at intervals. */
  loaded(): LoadedModel[];
  /** 0 checks fresh models only. */
  minutes: number;
  logger: Logger;
  answerWithinMs?: number;
}

interface Watched {
  canary: Canary;
  picture: CanaryPicture;
}

export class CanaryWatch {
  readonly #options: CanaryWatchOptions;
  readonly #canaries = new Map<number, Watched>();
  #timer: NodeJS.Timeout | null = null;
  #round: Promise<void> | null = null;

  constructor(options: CanaryWatchOptions) {
    this.#options = options;
  }

  /** Rejects with `invalid_model` when the fresh model is blind or its known boxes are not found. */
  async admit(model: LoadedModel): Promise<void> {
    const { canaryPath, name } = model.file;
    const known = canaryPath === null ? null : await readKnownPicture(canaryPath);
    const picture = known?.picture ?? this.#options.picture;
    const canary = new Canary(known?.boxes ?? null);
    const fault = canary.judge(await this.#lookInTime(model, picture));
    if (fault !== null) {
      throw new LatticeError('invalid_model', `Model '${name}' failed its self-check: ${fault}.`);
    }
    this.#canaries.set(model.native.modelId, { canary, picture });
  }

  start(): void {
    if (this.#options.minutes <= 0 || this.#timer !== null) return;
    this.#timer = setInterval(() => void this.checkAll(), this.#options.minutes * 60_000);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** One round over the loaded models; a round under way is joined. Sets or clears their `distrust`. */
  checkAll(): Promise<void> {
    this.#round ??= this.#checkLoaded().finally(() => {
      this.#round = null;
    });
    return this.#round;
  }

  async #checkLoaded(): Promise<void> {
    for (const model of this.#options.loaded()) await this.#check(model);
  }

  async #check(model: LoadedModel): Promise<void> {
    const { name } = model.file;
    const watched = this.#canaries.get(model.native.modelId);
    if (watched === undefined) return;
    let fault: string | null;
    try {
      fault = watched.canary.judge(await this.#lookInTime(model, watched.picture));
    } catch (thrown) {
      const error = toLatticeError(thrown);
      if (INCONCLUSIVE.has(error.code)) return;
      fault = error.message;
    }
    if (fault !== null) {
      model.distrust = new LatticeError(
        'model_not_ready',
        `Model '${name}' failed its self-check: ${fault}.`,
      );
      this.#options.logger.error({ model: name, fault }, 'self-check failed');
    } else if (model.distrust !== null) {
      model.distrust = null;
      this.#options.logger.info({ model: name }, 'self-check passes again');
    }
  }

  async #lookInTime(model: LoadedModel, picture: CanaryPicture): Promise<Detection[]> {
    const limit = this.#options.answerWithinMs ?? ANSWER_WITHIN_MS;
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        reject(new LatticeError('model_not_ready', `no answer within ${limit / 1000} s`));
      }, limit);
      timer.unref();
    });
    try {
      return await Promise.race([this.#options.look(model, picture), silence]);
    } finally {
      clearTimeout(timer);
    }
  }
}
