/** Runs the self-check on every fresh model and, at intervals, on the loaded ones. */
import type { Detection } from '../../api/schemas/image.js';
import { ERRORS, LatticeError, toLatticeError } from '../../api/errors.js';
import { inTime } from '../../base/in-time.js';
import type { Logger } from '../../base/logger-port.js';
import type { Core } from '../../native/core.js';
import type { LoadedModel } from '../loaded-model.js';
import { detectionsFrom } from '../../boxes/raw-detections.js';
import { faultOfInputs } from './input-check.js';
import { faultOfLayout } from './layout-check.js';
import { ModelCheck, readKnownPicture, runOn, type Picture } from './model-check.js';

/** A device that gives no answer for this long is stuck, not busy: the check goes in front of other work. */
const ANSWER_WITHIN_MS = 60_000;

export interface SelfCheckOptions {
  core: Pick<Core, 'run'>;
  /** The picture for models without one of their own. */
  picture: Picture;
  logger: Logger;
}

interface Checked {
  check: ModelCheck;
  picture: Picture;
}

export class SelfCheck {
  readonly #options: SelfCheckOptions;
  readonly #checked = new WeakMap<LoadedModel, Checked>();
  /** The models to check at intervals. */
  #loaded: () => readonly LoadedModel[] = () => [];
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | null = null;
  #stopped = false;

  constructor(options: SelfCheckOptions) {
    this.#options = options;
  }

  /**
   * Rejects with `invalid_model` when the layout of the fresh model is not what it was taken for, when it is blind or
   * its known boxes are not found, also at one of several inputs. Another error is that of the run: it is not held
   * against the file.
   */
  async admit(model: LoadedModel): Promise<void> {
    const { knownPicturePath } = model.file;
    const known = knownPicturePath === null ? null : await readKnownPicture(knownPicturePath);
    const picture = known?.picture ?? this.#options.picture;
    const check = new ModelCheck(known?.boxes ?? null, model.native.layout);
    const shown = { picture, boxes: known?.boxes ?? [] };
    const fault =
      (await faultOfLayout(model.native, () => this.#run(model, picture, { everyRow: true }))) ??
      check.judge(await this.#look(model, picture)) ??
      (await faultOfInputs(model.native, shown, (part) => this.#look(model, part)));
    if (fault !== null) {
      this.#logFault(model, fault);
      throw new LatticeError('invalid_model', failed(model, fault));
    }
    this.#checked.set(model, { check, picture });
  }

  /** Checks the loaded models every `minutes` from now on; 0 checks them at `checkAll` only. */
  start(loaded: () => readonly LoadedModel[], minutes: number): void {
    this.#loaded = loaded;
    if (minutes === 0 || this.#stopped) return;
    this.#timer ??= setInterval(() => void this.checkAll(), minutes * 60_000).unref();
  }

  /** Final. A round in progress ends without a log line: the core may close before it. */
  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
  }

  /** Checks all loaded models; joins a round in progress. Sets or clears their `distrust`. Never rejects. */
  checkAll(): Promise<void> {
    this.#round ??= this.#checkLoaded().finally(() => {
      this.#round = null;
    });
    return this.#round;
  }

  async #checkLoaded(): Promise<void> {
    for (const model of this.#loaded()) {
      const checked = this.#checked.get(model);
      if (checked !== undefined && this.#isLoaded(model)) await this.#check(model, checked);
    }
  }

  async #check(model: LoadedModel, { check, picture }: Checked): Promise<void> {
    const found = await this.#look(model, picture).catch(toLatticeError);
    // The run says nothing once the model is unloaded or the core closes.
    if (!this.#isLoaded(model)) return;
    if (found instanceof LatticeError && ERRORS[found.code].unfinished === true) return;
    const fault = found instanceof LatticeError ? found.message : check.judge(found);
    if (fault !== null) this.#logFault(model, fault);
    else if (model.distrust !== null) {
      this.#options.logger.info({ model: model.file.name }, 'self-check passes again');
    }
    model.distrust =
      fault === null ? null : new LatticeError('model_not_ready', failed(model, fault));
  }

  #isLoaded(model: LoadedModel): boolean {
    return !this.#stopped && this.#loaded().includes(model);
  }

  #logFault(model: LoadedModel, fault: string): void {
    this.#options.logger.error({ model: model.file.name, fault }, 'self-check failed');
  }

  async #look(model: LoadedModel, picture: Picture): Promise<Detection[]> {
    return detectionsFrom(await this.#run(model, picture), model.native.names);
  }

  async #run(
    model: LoadedModel,
    picture: Picture,
    more: { everyRow?: boolean } = {},
  ): Promise<Float32Array> {
    const run = runOn(picture, model.native, this.#options.core, more);
    const raw = await inTime(run, ANSWER_WITHIN_MS, null);
    if (raw === null) {
      const waited = `no answer within ${ANSWER_WITHIN_MS / 1_000} s`;
      throw new LatticeError('model_not_ready', waited);
    }
    return raw.boxes;
  }
}

function failed(model: LoadedModel, fault: string): string {
  return `Model '${model.file.name}' failed its self-check: ${fault}.`;
}
