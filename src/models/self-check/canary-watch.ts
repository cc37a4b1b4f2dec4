/** Runs the canary on every fresh model and, at intervals, on the loaded ones: on each of their devices. */
import { LatticeError, toLatticeError } from '../../errors.js';
import { inTime } from '../../in-time.js';
import { readKnownPicture, type CanaryPicture } from './canary.js';
import type { Detection } from '../../contract/image-result.js';
import { faultOfInputs } from './input-check.js';
import type { Logger } from '../../logger-port.js';
import type { LoadedModel, ModelDevice } from '../loaded-model.js';
import { ModelCanaries, type DeviceRun } from './model-canaries.js';

/** A device that gives no answer for this long is stuck, not busy: the check goes in front of other work. */
const ANSWER_WITHIN_MS = 60_000;
/** How soon a lost device is in the log. Its images tell nobody: they run on the others. */
const LOSS_KNOWN_WITHIN_MS = 2_000;
/** These say nothing about the model. */
const INCONCLUSIVE = new Set(['cancelled', 'shutting_down', 'overloaded', 'deadline_exceeded']);

export interface CanaryWatchOptions {
  /** Boxes of a picture at confidence 0, all classes. `device` is null where the model has one only. */
  look(model: LoadedModel, picture: CanaryPicture, device: number | null): Promise<Detection[]>;
  devices(model: LoadedModel): ModelDevice[];
  /** Takes a device out for this model, or back in. */
  judge(model: LoadedModel, device: number, right: boolean): void;
  /** For models that come without a picture of their own. */
  picture: CanaryPicture;
  /** The models to check at intervals. */
  loaded(): LoadedModel[];
  /** 0 checks fresh models only. */
  minutes: number;
  logger: Logger;
  answerWithinMs?: number;
}

/** What `faults` says of a device that was lost. */
const LOST = 'it faulted or hangs and is lost to this process';

interface Target {
  device: ModelDevice;
  /** The model has others beside it. */
  several: boolean;
  lost: boolean;
}

interface Watched {
  canaries: ModelCanaries;
  picture: CanaryPicture;
}

export class CanaryWatch {
  readonly #options: CanaryWatchOptions;
  readonly #canaries = new WeakMap<LoadedModel, Watched>();
  readonly #timers: NodeJS.Timeout[] = [];
  #round: Promise<void> | null = null;
  #stopped = false;

  constructor(options: CanaryWatchOptions) {
    this.#options = options;
  }

  /**
   * Rejects with `invalid_model` when the fresh model is blind or its known boxes are not found, on all devices or, on
   * the CPU, at one of several inputs; with `model_not_ready` when its devices differ and nobody knows which is right.
   * A device of several that is alone with that, or that gives an error or nothing, is taken out.
   */
  async admit(model: LoadedModel): Promise<void> {
    const { canaryPath } = model.file;
    const known = canaryPath === null ? null : await readKnownPicture(canaryPath);
    const picture = known?.picture ?? this.#options.picture;
    const watched = { canaries: new ModelCanaries(known?.boxes ?? null), picture };
    const targets = this.#targets(model);
    const runs: DeviceRun[] = [];
    let error: LatticeError | null = null;
    for (const target of targets) {
      const found = await this.#lookOn(model, picture, target);
      if (!(found instanceof LatticeError)) runs.push({ device: target.device.index, run: found });
      else if (!this.#isLost(model, target)) {
        if (!target.several || INCONCLUSIVE.has(found.code)) throw found;
        this.#conclude(model, target, found.message);
        error = found;
      }
    }
    const { faults, undecided } = watched.canaries.admit(runs, this.#doubted());
    const shown = { picture, boxes: known?.boxes ?? [] };
    const look = (part: CanaryPicture) => this.#lookInTime(model, part, null);
    for (const target of targets) {
      const fault = faults.get(target.device.index);
      if (fault === undefined) continue;
      this.#conclude(model, target, fault ?? (await faultOfInputs(model.native, shown, look)));
    }
    const fault = this.#faultOfAll(model);
    // An error may be over at the next request: only wrong boxes are held against the file.
    if (undecided !== null) throw new LatticeError('model_not_ready', failed(model, undecided));
    if (fault !== null) throw error ?? new LatticeError('invalid_model', failed(model, fault));
    this.#canaries.set(model, watched);
  }

  start(): void {
    if (this.#timers.length > 0 || this.#stopped) return;
    const noteLosses = this.#noteLosses.bind(this);
    this.#timers.push(setInterval(noteLosses, LOSS_KNOWN_WITHIN_MS));
    const { minutes } = this.#options;
    if (minutes > 0) this.#timers.push(setInterval(() => void this.checkAll(), minutes * 60_000));
    for (const timer of this.#timers) timer.unref();
  }

  /** For good. A round under way ends without a word: the core may close beneath it. */
  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) clearInterval(timer);
  }

  /** One round over the loaded models; a round under way is joined. Sets or clears their `distrust`. Never rejects. */
  checkAll(): Promise<void> {
    this.#round ??= this.#checkLoaded().finally(() => {
      this.#round = null;
    });
    return this.#round;
  }

  async #checkLoaded(): Promise<void> {
    for (const model of this.#options.loaded()) {
      try {
        await this.#check(model);
      } catch (thrown) {
        if (this.#stopped || toLatticeError(thrown).code === 'shutting_down') return;
        const about = { model: model.file.name, error: String(thrown) };
        this.#options.logger.error(about, 'self-check could not be made');
      }
    }
  }

  async #check(model: LoadedModel): Promise<void> {
    const watched = this.#canaries.get(model);
    if (watched === undefined || !this.#isWatched(model)) return;
    for (const target of this.#targets(model)) {
      const found = await this.#lookOn(model, watched.picture, target);
      // What came of the look says nothing once the model is gone or the core closes.
      if (!this.#isWatched(model)) return;
      if (!(found instanceof LatticeError)) {
        this.#conclude(model, target, watched.canaries.judge(target.device.index, found));
      } else if (!INCONCLUSIVE.has(found.code) && !this.#isLost(model, target)) {
        this.#conclude(model, target, found.message);
      }
    }
    const fault = this.#faultOfAll(model);
    model.distrust =
      fault === null ? null : new LatticeError('model_not_ready', failed(model, fault));
  }

  #isWatched(model: LoadedModel): boolean {
    return !this.#stopped && this.#options.loaded().includes(model);
  }

  /** The devices to check: those that are left; with none left the first, whose answer says so. */
  #targets(model: LoadedModel): Target[] {
    const devices = this.#options.devices(model);
    const several = devices.length > 1;
    const targets = devices.map((device) => ({ device, several, lost: device.state === 'lost' }));
    this.#noteLossesOf(model, devices);
    const left = targets.filter(({ lost }) => !lost);
    return left.length > 0 ? left : targets.slice(0, 1);
  }

  /** The device went during the check, and others are left. */
  #isLost(model: LoadedModel, { device }: Target): boolean {
    const left = this.#options.devices(model).filter(({ state }) => state !== 'lost');
    return left.length > 0 && left.every(({ index }) => index !== device.index);
  }

  #noteLosses(): void {
    for (const model of this.#options.loaded()) {
      try {
        this.#noteLossesOf(model, this.#options.devices(model));
      } catch {
        return; // the core closes
      }
    }
  }

  /** Each once. A single device is not noted: with it the detector is lost, and says so. */
  #noteLossesOf(model: LoadedModel, devices: ModelDevice[]): void {
    for (const { index, name, state } of devices) {
      if (devices.length < 2 || state !== 'lost' || model.faults.get(index) === LOST) continue;
      model.faults.set(index, LOST);
      this.#options.logger.error({ model: model.file.name, device: index, deviceName: name }, LOST);
    }
  }

  /** Devices that are out for a loaded model. */
  #doubted(): Set<number> {
    return new Set(this.#options.loaded().flatMap(({ faults }) => [...faults.keys()]));
  }

  /** The boxes, or the error that came in their place. */
  async #lookOn(
    model: LoadedModel,
    picture: CanaryPicture,
    { device, several, lost }: Target,
  ): Promise<Detection[] | LatticeError> {
    const named = several && !lost ? device.index : null;
    try {
      return await this.#lookInTime(model, picture, named);
    } catch (thrown) {
      return toLatticeError(thrown);
    }
  }

  #conclude(model: LoadedModel, { device, several }: Target, fault: string | null): void {
    const { logger } = this.#options;
    const { index, name } = device;
    const about = {
      model: model.file.name,
      ...(several ? { device: index, deviceName: name } : {}),
    };
    if (fault !== null) {
      model.faults.set(index, fault);
      logger.error({ ...about, fault }, 'self-check failed');
    } else if (model.faults.delete(index)) {
      logger.info(about, 'self-check passes again');
    }
    this.#options.judge(model, index, fault === null);
  }

  /** What is wrong with the model when no device is right. */
  #faultOfAll(model: LoadedModel): string | null {
    const faults = this.#targets(model).map(({ device }) => model.faults.get(device.index));
    return faults.includes(undefined) ? null : (faults[0] ?? null);
  }

  #lookInTime(
    model: LoadedModel,
    picture: CanaryPicture,
    device: number | null,
  ): Promise<Detection[]> {
    const limitMs = this.#options.answerWithinMs ?? ANSWER_WITHIN_MS;
    return inTime(this.#options.look(model, picture, device), limitMs, 'model_not_ready');
  }
}

function failed(model: LoadedModel, fault: string): string {
  return `Model '${model.file.name}' failed its self-check: ${fault}.`;
}
