/** Loads a model file in the precision of the settings, where memory for it can be found. */
import { LatticeError, toLatticeError } from '../api/errors.js';
import type { ModelVersion, Precision } from '../api/model.js';
import type { NativeModel } from '../native/contract.js';
import { ClassFilter } from './class-filter.js';
import { findEightBitCopy, isProven, SOURCE_KEY } from './eight-bit-copy.js';
import { shortDigest, type LoadedModel } from './loaded-model.js';
import type { ModelFile } from './model-folder.js';

export interface ModelLoader {
  /** As `NativeCore.loadModel`. */
  loadModel(path: string, eightBitPath?: string): Promise<NativeModel>;
  unloadModel(modelId: number): void;
}

export interface ModelLoadingParts {
  loader: ModelLoader;
  /** `int8` is for models that have a copy in 8 bits; `auto` takes a proven one where it is faster. */
  precision: Precision;
  /** The 8-bit copy of this model cannot be used; the original is. */
  onUnfitCopy(model: string, fault: string): void;
  /** Checks a fresh model before its first request, sets its `agreement`, and rejects with `invalid_model` to refuse it. */
  admit(model: LoadedModel): Promise<void>;
}

/** A model that did not fit into memory is tried again after this time: other processes may have freed memory. */
const TOO_LARGE_MS = 10 * 60_000;

/** Arguments of `ModelLoader.loadModel`. */
interface ModelFiles {
  path: string;
  eightBitPath?: string;
}

export class ModelLoading {
  readonly #parts: ModelLoadingParts;
  readonly #unloadAnother: () => boolean;
  /** By path: when memory was too short for the file with nothing but the default model beside it. */
  readonly #tooLarge = new Map<string, { fingerprint: string; since: number }>();

  /** `unloadAnother` is called where memory is short; false where there is none to unload. */
  constructor(parts: ModelLoadingParts, unloadAnother: () => boolean) {
    this.#parts = parts;
    this.#unloadAnother = unloadAnother;
  }

  /** Resolves with an admitted model. */
  async load(file: ModelFile, fingerprint: string): Promise<LoadedModel> {
    const { precision } = this.#parts;
    const original = { path: file.path };
    if (precision !== 'auto' && precision !== 'int8') {
      return this.#loadAdmitted(file, original, fingerprint);
    }
    const copy = await findEightBitCopy(file.path);
    if (precision === 'int8') {
      if (copy === null) throw withoutCopy(file);
      return this.#loadAdmitted(file, { path: copy.path }, fingerprint);
    }
    if (copy === null || !isProven(copy)) return this.#loadAdmitted(file, original, fingerprint);
    try {
      const either = { path: file.path, eightBitPath: copy.path };
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

  async #loadAdmitted(
    file: ModelFile,
    files: ModelFiles,
    fingerprint: string,
  ): Promise<LoadedModel> {
    const native = await this.#loadWhereThereIsRoom(files, fingerprint);
    const mayBeCopy = files.path !== file.path || files.eightBitPath !== undefined;
    const model: LoadedModel = {
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
    try {
      await this.#parts.admit(model);
    } catch (error) {
      this.free(model);
      throw error;
    }
    return model;
  }

  async #loadWhereThereIsRoom(
    { path, eightBitPath }: ModelFiles,
    fingerprint: string,
  ): Promise<NativeModel> {
    for (;;) {
      try {
        return await this.#parts.loader.loadModel(path, eightBitPath);
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
