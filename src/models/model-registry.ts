/** Models by name: loaded once, refused once, replaced while they are used, described for `GET /v1/models`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { LatticeError, toLatticeError } from '../api/errors.js';
import type { ModelDescription, ModelVersion } from '../api/schemas/model.js';
import type { NativeModelDescription } from '../native/contract.js';
import { describeModel } from '../native/core.js';
import type { LoadedModel } from './loaded-model.js';
import { releaseOf, type ModelFile, type ModelFolder } from './model-folder.js';
import { ModelLoading, type ModelLoadingParts } from './model-loading.js';
import { byUse, bytesOf, unloadedFor } from './model-memory.js';
import { fingerprintOf, holdsContent, RestingFiles } from './model-stamp.js';
import { thresholdOf } from './own-threshold.js';
import { findVersion, ReplacedModels } from './replaced-models.js';

export interface ModelRegistryParts extends ModelLoadingParts {
  folder: ModelFolder;
  /** It is never unloaded for another one; left out: the default model. */
  mainModel?: string;
  /** Bytes that the loaded models may take together; a fresh one comes on top until it is admitted. */
  memoryBudget: number;
  /** The file of a loaded model was replaced or removed, or cannot be used since it was. */
  onChange?(change: ModelChange): void;
}

export type ModelChange =
  | { kind: 'swapped'; model: string; from: ModelVersion; to: ModelVersion }
  | { kind: 'removed'; model: string; from: ModelVersion }
  | { kind: 'refused'; model: string; from: ModelVersion; error: LatticeError };

/** A replacement that failed for another reason than its file is tried again after this time. */
const NEXT_TRY_MS = 60_000;
/** Limit for a file that is being written, and the pause between two looks at it. */
const WRITTEN_MS = 10_000;
const LOOK_AGAIN_MS = 100;

const UNKNOWN: NativeModelDescription = { names: [], metadata: {} };

/** A file that cannot be used, remembered until its fingerprint differs. */
interface Refusal {
  fingerprint: string;
  error: LatticeError;
}

/** A load of a file in one state, in progress or ended. */
interface FileLoad {
  fingerprint: string;
  model: Promise<LoadedModel>;
}

/** Why the file that has replaced that of a loaded model is not in use. */
interface Unused extends Refusal {
  at: number;
}

/**
 * Models are unloaded only for a model that has loaded and passed its check, because its memory is not known earlier; a
 * file that is missing or unusable unloads none. If memory runs short during a load, others are unloaded although that
 * load may still fail.
 *
 * A file that has replaced that of a loaded model is loaded beside it. Requests get the new model once it has passed
 * its check; the old one is unloaded after its last image.
 */
export class ModelRegistry {
  readonly #parts: ModelRegistryParts;
  /** Models by name that are ready for use without reading the disk. */
  readonly #ready = new Map<string, LoadedModel>();
  /** Loads by path, because names may share a file, and a file is compiled once. */
  readonly #loads = new Map<string, FileLoad>();
  readonly #refused = new Map<string, Refusal>();
  readonly #loading: ModelLoading;
  readonly #replaced = new ReplacedModels((model) => {
    this.#forgetLoad(model);
    this.#loading.free(model);
  });
  readonly #resting = new RestingFiles();
  /** By name of the model: why the file that has replaced its loaded file is not in use. */
  readonly #unused = new Map<string, Unused>();
  /** Names whose files the next look compares by their bytes. */
  #byContent = new Set<string>();
  /** The last load: they come one after another, so that each knows what the others take. */
  #turn: Promise<unknown> = Promise.resolve();
  #round: Promise<boolean> | null = null;
  #uses = 0;
  #swaps = 0;

  constructor(parts: ModelRegistryParts) {
    this.#parts = parts;
    this.#loading = new ModelLoading(parts, () => this.#unloadLeastUsed());
  }

  get mainName(): string {
    return this.#parts.mainModel ?? this.#parts.folder.defaultName;
  }

  /** Files that have replaced those of loaded models since the start, and those of them that cannot be used now. */
  get changes(): { swapped: number; refused: number } {
    return { swapped: this.#swaps, refused: this.#unused.size };
  }

  /** The model when it is loaded, in this version where one is given; never waits. Counts as a use. */
  ready(name: string, wanted?: ModelVersion): LoadedModel | undefined {
    const current = this.#ready.get(name);
    const model = wanted === undefined ? current : this.#loadedAs(wanted, current);
    if (model !== undefined) model.lastUse = this.#uses += 1;
    return model;
  }

  #loadedAs(wanted: ModelVersion, current: LoadedModel | undefined): LoadedModel | undefined {
    const loaded = current === undefined ? this.#replaced.all : [current, ...this.#replaced.all];
    return findVersion(loaded, wanted) ?? undefined;
  }

  /** An image is about to use the model; `release` is to follow. */
  hold(model: LoadedModel): void {
    model.inHand += 1;
  }

  release(model: LoadedModel): void {
    model.inHand -= 1;
    this.#replaced.release();
  }

  /** Versions that jobs run on: they stay loaded although their files are replaced. The call replaces the list. */
  keep(versions: readonly ModelVersion[]): void {
    this.#replaced.keep(versions);
  }

  /** Every model that requests get, once. */
  loaded(): LoadedModel[] {
    return [...new Set(this.#ready.values())];
  }

  /**
   * Rejects with `unknown_model`, or `invalid_model` with the reason; with `model_changed` where neither a loaded model
   * nor its file is the version that is wanted.
   */
  async load(name: string, wanted?: ModelVersion): Promise<LoadedModel> {
    const known = this.ready(name, wanted);
    if (known !== undefined) return known;
    await this.#loadNamed(name);
    const found = this.ready(name, wanted);
    if (found !== undefined) return found;
    if (wanted === undefined) return this.load(name); // It was unloaded meanwhile.
    // Another worker may have taken a new file before this one has looked.
    await this.#settle();
    const fresh = this.ready(name, wanted);
    if (fresh !== undefined) return fresh;
    throw new LatticeError(
      'model_changed',
      `The file of the model '${name}' is another one than the job began with (${wanted.source}).`,
    );
  }

  async #loadNamed(name: string): Promise<void> {
    if (this.#ready.has(name)) return;
    const file = await this.#parts.folder.find(name);
    const load = this.#loadOf(file, await fingerprintOf(file.path), []);
    const model = await load.model;
    // Another model may have caused its unloading meanwhile, or another file have replaced it.
    if (model.isUnloaded || this.#loads.get(file.path) !== load) return;
    if (!this.#ready.has(name)) this.#stand(name, model);
  }

  /** The load of the file in this state, begun or not. `replaced` are about to be unloaded for it. */
  #loadOf(file: ModelFile, fingerprint: string, replaced: readonly LoadedModel[]): FileLoad {
    const refusal = this.#refused.get(file.path);
    if (refusal?.fingerprint === fingerprint) {
      return { fingerprint, model: Promise.reject(refusal.error) };
    }
    this.#refused.delete(file.path);
    const known = this.#loads.get(file.path);
    if (known?.fingerprint === fingerprint) return known;
    const model = this.#turn.then(() => this.#loadFile(file, fingerprint, replaced));
    const load = { fingerprint, model };
    this.#loads.set(file.path, load);
    this.#turn = model.catch(() => {
      if (this.#loads.get(file.path) === load) this.#loads.delete(file.path);
    });
    return load;
  }

  async #loadFile(
    file: ModelFile,
    fingerprint: string,
    replaced: readonly LoadedModel[],
  ): Promise<LoadedModel> {
    try {
      const model = await this.#loading.load(file, fingerprint);
      model.lastUse = this.#uses += 1;
      this.#makeRoomFor(model, replaced);
      return model;
    } catch (thrown) {
      const error = toLatticeError(thrown);
      // Only a fault of the file itself is remembered; lack of memory or a stop may have ended by the next request.
      if (error.code === 'invalid_model') this.#refused.set(file.path, { fingerprint, error });
      throw error;
    }
  }

  /**
   * Like `refresh`, but compares files by their bytes and not by their times. Files that were refused are tried once
   * more.
   */
  async reload(): Promise<void> {
    await this.#round;
    this.#refused.clear();
    this.#unused.clear();
    this.#byContent = new Set(this.#ready.keys());
    await this.#settle();
  }

  /** Waits for files that are being written, but not for ever. */
  async #settle(): Promise<void> {
    const until = performance.now() + WRITTEN_MS;
    while ((await this.refresh()) && performance.now() < until) await sleep(LOOK_AGAIN_MS);
  }

  /**
   * Looks at the files of the loaded models: takes those that were replaced, forgets those that were removed. True
   * where a file may still be written: it is left to a later call. Never rejects.
   */
  refresh(): Promise<boolean> {
    this.#round ??= this.#refresh().finally(() => {
      this.#round = null;
    });
    return this.#round;
  }

  async #refresh(): Promise<boolean> {
    // A volume that is away has lost no model.
    if (!(await this.#parts.folder.isReachable())) return false;
    let isWritten = false;
    for (const [name, model] of [...this.#ready]) {
      if (await this.#refreshName(name, model)) isWritten = true;
    }
    return isWritten;
  }

  async #refreshName(name: string, model: LoadedModel): Promise<boolean> {
    const file = await this.#parts.folder.find(name).catch(() => null);
    const isSameFile = file?.path === model.file.path;
    const isCompared = this.#byContent.delete(name);
    if (isSameFile && (await fingerprintOf(file.path)) === model.fingerprint) {
      if (!isCompared || (await holdsContent(model))) {
        this.#unused.delete(name);
        return false;
      }
      // On a volume without times of change both files have this fingerprint.
      this.#forgetLoad(model);
    }
    // Some programs remove a file before they write the next one.
    if (!isSameFile && (await this.#resting.look(model.file.path)) === null) return true;
    if (file === null) {
      this.#remove(name, model);
      return false;
    }
    const fingerprint = await this.#resting.look(file.path);
    if (fingerprint === null) return true;
    const unused = this.#unused.get(name);
    if (unused?.fingerprint === fingerprint && !mayTryAgain(unused)) return false;
    try {
      const { model: loading } = this.#loadOf(file, fingerprint, [model]);
      const fresh = await loading;
      // The engine may have read a part of either file.
      if ((await fingerprintOf(file.path)) !== fingerprint) {
        this.#discard(fresh);
        return true;
      }
      this.#swap(name, model, fresh);
    } catch (thrown) {
      const error = toLatticeError(thrown);
      if (error.code === 'shutting_down') return false;
      const isNews = unused?.fingerprint !== fingerprint || unused.error.message !== error.message;
      this.#unused.set(name, { fingerprint, error, at: performance.now() });
      const from = model.version;
      if (isNews) this.#parts.onChange?.({ kind: 'refused', model: name, from, error });
    }
    return false;
  }

  #swap(name: string, from: LoadedModel, to: LoadedModel): void {
    this.#unused.delete(name);
    // Unloaded for memory while its file was loaded.
    if (this.#ready.get(name) !== from) {
      this.#discard(to);
      return;
    }
    this.#stand(name, to);
    this.#retire(from);
    if (from.version.digest === to.version.digest) return; // Written again as it was.
    this.#swaps += 1;
    this.#parts.onChange?.({ kind: 'swapped', model: name, from: from.version, to: to.version });
  }

  /** The name stands for the model from here on. */
  #stand(name: string, model: LoadedModel): void {
    this.#replaced.takeBack(model);
    this.#ready.set(name, model);
  }

  #remove(name: string, model: LoadedModel): void {
    this.#unused.delete(name);
    this.#ready.delete(name);
    this.#forgetLoad(model);
    this.#retire(model);
    this.#parts.onChange?.({ kind: 'removed', model: name, from: model.version });
  }

  /** No name stands for the model any more, unless another one does. */
  #retire(model: LoadedModel): void {
    if (!model.isUnloaded && !this.loaded().includes(model)) this.#replaced.add(model);
  }

  /** No name gets the fresh model. */
  #discard(model: LoadedModel): void {
    this.#forgetLoad(model);
    this.#retire(model);
  }

  #unloadLeastUsed(): boolean {
    const standard = this.#ready.get(this.mainName);
    const least = byUse(this.loaded()).find((model) => model !== standard);
    const replaced = this.#replaced.all.find(({ inHand }) => inHand === 0);
    if (least !== undefined) this.#unload(least);
    else if (replaced !== undefined) this.#replaced.drop(replaced);
    return least !== undefined || replaced !== undefined;
  }

  /** Unloads what the budget cannot hold beside it. */
  #makeRoomFor(fresh: LoadedModel, replaced: readonly LoadedModel[]): void {
    const standard = this.#ready.get(this.mainName);
    const others = this.loaded().filter((model) => !replaced.includes(model));
    const budget = this.#parts.memoryBudget - bytesOf(this.#replaced.all);
    unloadedFor(fresh, others, standard, budget).forEach((model) => {
      this.#unload(model);
    });
  }

  #unload(model: LoadedModel): void {
    for (const [name, other] of this.#ready) {
      if (other !== model) continue;
      this.#ready.delete(name);
      this.#unused.delete(name);
    }
    this.#forgetLoad(model);
    this.#loading.free(model);
  }

  #forgetLoad(model: LoadedModel): void {
    const { fingerprint } = model;
    const { path } = model.file;
    const isInUse = this.loaded().some(
      (other) => other !== model && other.file.path === path && other.fingerprint === fingerprint,
    );
    if (isInUse) return;
    if (this.#loads.get(path)?.fingerprint === fingerprint) this.#loads.delete(path);
  }

  async describe(name: string): Promise<ModelDescription> {
    return this.#describe(await this.#parts.folder.find(name));
  }

  /** The default model first. */
  async describeAll(): Promise<ModelDescription[]> {
    return Promise.all((await this.#parts.folder.list()).map((file) => this.#describe(file)));
  }

  async #describe(file: ModelFile): Promise<ModelDescription> {
    const model =
      this.#ready.get(file.name) ?? this.loaded().find((other) => other.file.path === file.path);
    const { native = null, version = null } = model ?? {};
    const fault = model === undefined ? await this.#refusalOf(file) : model.distrust;
    const unused = await this.#unusedOf(file);
    // A file that is no ONNX is refused when a request names it; listing is no load.
    const { names, metadata } = native ?? (await describeModel(file.path).catch(() => UNKNOWN));
    const unrefused = native === null ? 'available' : 'ready';
    return {
      name: file.name,
      aliasOf: file.aliasOf,
      release: releaseOf(file, metadata),
      bundled: file.bundled,
      isDefault: file.name === this.#parts.folder.defaultName,
      state: fault === null ? unrefused : 'refused',
      reason: fault?.message ?? unused ?? model?.batchLimit ?? null,
      classes: names,
      device: native?.device ?? null,
      precision: native?.precision ?? null,
      digest: version?.digest ?? null,
      quantizedFrom: version === null || version.source === version.digest ? null : version.source,
      agreement: model?.agreement ?? null,
      input: native && { width: native.inputWidth, height: native.inputHeight },
      memoryBytes: native?.memoryBytes ?? null,
      licence: file.licence ?? metadata.license ?? null,
      confidenceThreshold: thresholdOf(metadata),
    };
  }

  /** A reason ends with the file that it belongs to. */
  async #unusedOf({ name, path }: ModelFile): Promise<string | null> {
    const unused = this.#unused.get(name);
    if (unused === undefined) return null;
    return unused.fingerprint === (await fingerprintOf(path)) ? reasonOf(unused) : null;
  }

  async #refusalOf({ path }: ModelFile): Promise<LatticeError | null> {
    const refusal = this.#refused.get(path);
    if (refusal === undefined) return null;
    return refusal.fingerprint === (await fingerprintOf(path)) ? refusal.error : null;
  }
}

function mayTryAgain({ error, at }: Unused): boolean {
  return error.code !== 'invalid_model' && performance.now() - at >= NEXT_TRY_MS;
}

function reasonOf({ error }: Unused): string {
  return `The file was replaced, and the new one cannot be used; the earlier one goes on answering. ${error.message}`;
}
