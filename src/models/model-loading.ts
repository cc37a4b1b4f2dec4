/** Loads a model file in the precision of the settings, where memory for it can be found. */
import { LatticeError, toLatticeError } from '../api/errors.js';
import type { ModelVersion, Precision } from '../api/schemas/model.js';
import type { HowToLoad, NativeModel } from '../native/contract.js';
import { ClassFilter } from './class-filter.js';
import { findEightBitCopy, isProven, SOURCE_KEY } from './eight-bit-copy.js';
import { isTooFarOff } from './engine-agreement.js';
import { shortDigest, type LoadedModel } from './loaded-model.js';
import type { ModelFile } from './model-folder.js';

export interface ModelLoader {
  /** See `NativeCore.loadModel`. */
  loadModel(path: string, how?: HowToLoad): Promise<NativeModel>;
  unloadModel(modelId: number): void;
}

export interface ModelLoadingParts {
  loader: ModelLoader;
  /** `int8` is for models that have a copy in 8 bits; `auto` takes a proven one where it is faster. */
  precision: Precision;
  /** The 8-bit copy of this model cannot be used; the original is. */
  onUnfitCopy(model: string, fault: string): void;
  /** A network is unfit, and is compiled anew, or in f32, before its file is refused. */
  onUnfitNetwork(model: string, fault: string, next: HowToLoad): void;
  /**
   * Checks a fresh model before its first request, sets its `agreement`, and rejects with `invalid_model` to refuse it.
   */
  admit(model: LoadedModel): Promise<void>;
}

/** A model that did not fit into memory is tried again after this time: other processes may have freed memory. */
const TOO_LARGE_MS = 10 * 60_000;

/** Arguments of `ModelLoader.loadModel`. */
interface Load {
  path: string;
  how: HowToLoad;
}

export class ModelLoading {
  readonly #parts: ModelLoadingParts;
  readonly #unloadAnother: () => boolean;
  /** Files by path for which memory was too short even with only the default model loaded, and since when. */
  readonly #tooLarge = new Map<string, { fingerprint: string; since: number }>();

  /** `unloadAnother` is called where memory is short; false where there is none to unload. */
  constructor(parts: ModelLoadingParts, unloadAnother: () => boolean) {
    this.#parts = parts;
    this.#unloadAnother = unloadAnother;
  }

  /** Resolves with an admitted model. */
  async load(file: ModelFile, fingerprint: string): Promise<LoadedModel> {
    const { precision } = this.#parts;
    const original = { path: file.path, how: {} };
    if (precision !== 'auto' && precision !== 'int8') {
      return this.#loadAdmitted(file, original, fingerprint);
    }
    const copy = await findEightBitCopy(file.path);
    if (precision === 'int8') {
      if (copy === null) throw withoutCopy(file);
      return this.#loadAdmitted(file, { path: copy.path, how: {} }, fingerprint);
    }
    if (copy === null || !isProven(copy)) return this.#loadAdmitted(file, original, fingerprint);
    try {
      const either = { path: file.path, how: { eightBitPath: copy.path } };
      return await this.#loadAdmitted(file, either, fingerprint);
    } catch (thrown) {
      const { code, message } = toLatticeError(thrown);
      if (code !== 'invalid_model') throw thrown;
      this.#parts.onUnfitCopy(file.name, message);
      return this.#loadAdmitted(file, original, fingerprint);
    }
  }

  free(model: LoadedModel): void {
    model.isUnloaded = true;
    this.#parts.loader.unloadModel(model.native.modelId);
  }

  /** Rejects with the fault of the last way to load it. */
  async #loadAdmitted(file: ModelFile, load: Load, fingerprint: string): Promise<LoadedModel> {
    const model = await this.#loadOnce(file, load, fingerprint);
    try {
      await this.#parts.admit(model);
      return model;
    } catch (thrown) {
      this.free(model);
      const { code, message } = toLatticeError(thrown);
      const next = code === 'invalid_model' ? this.#nextWay(model, load.how) : null;
      if (next === null) throw thrown;
      this.#parts.onUnfitNetwork(file.name, message, next);
      return this.#loadAdmitted(file, { path: load.path, how: next }, fingerprint);
    }
  }

  /**
   * How to load an unfit model again if its network and not its file may be wrong; null if only the file can be. Below
   * f32 a network made anew of the same file would score the same. In f32 it is the network that the kept one is
   * compared with.
   */
  #nextWay({ native, agreement }: LoadedModel, how: HowToLoad): HowToLoad | null {
    const isSameAgain = native.precision !== 'f32' && isTooFarOff({ share: agreement }, native);
    if (native.wasKept && how.anew !== true && !isSameAgain) return { ...how, anew: true };
    const isChosenHere = this.#parts.precision === 'auto' && native.precision === 'bf16';
    return isChosenHere ? { precision: 'f32' } : null;
  }

  async #loadOnce(file: ModelFile, load: Load, fingerprint: string): Promise<LoadedModel> {
    const native = await this.#loadWhereThereIsRoom(load, fingerprint);
    const mayBeCopy = load.path !== file.path || load.how.eightBitPath !== undefined;
    return {
      file,
      fingerprint,
      native,
      version: loadedVersion(native, mayBeCopy),
      classes: new ClassFilter(native.names),
      lastUse: 0,
      inHand: 0,
      isUnloaded: false,
      agreement: null,
      batchLimit: null,
      distrust: null,
    };
  }

  async #loadWhereThereIsRoom({ path, how }: Load, fingerprint: string): Promise<NativeModel> {
    for (;;) {
      try {
        return await this.#parts.loader.loadModel(path, how);
      } catch (thrown) {
        if (toLatticeError(thrown).code !== 'overloaded') throw thrown;
        if (this.#isTooLarge(path, fingerprint)) throw thrown;
        if (this.#unloadAnother()) continue;
        this.#tooLarge.set(path, { fingerprint, since: performance.now() });
        throw thrown;
      }
    }
  }

  #isTooLarge(path: string, fingerprint: string): boolean {
    const known = this.#tooLarge.get(path);
    if (known?.fingerprint !== fingerprint) return false;
    return performance.now() - known.since < TOO_LARGE_MS;
  }
}

/** A copy in 8 bits names the file that it was made from, which was checked before it was loaded. */
function loadedVersion(
  { sha256, metadata, precision }: NativeModel,
  mayBeCopy: boolean,
): ModelVersion {
  const source = mayBeCopy ? (metadata[SOURCE_KEY] ?? sha256) : sha256;
  return { digest: shortDigest(sha256), source: shortDigest(source), precision };
}

function withoutCopy({ name }: ModelFile): LatticeError {
  const stem = name.replace(/\.pt$/, '');
  return new LatticeError(
    'invalid_model',
    `LATTICE_PRECISION=int8, and the model '${name}' has no 8-bit copy that was made from its file: ` +
      `lattice model quantize ${stem} --images PHOTOS makes one.`,
  );
}
