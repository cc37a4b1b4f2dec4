/** Models by name: loaded once, refused once, described for `GET /v1/models`. */
import { stat } from 'node:fs/promises';
import { LatticeError, toLatticeError } from '../errors.js';
import type { NativeModel } from '../native/contract.js';
import { ClassFilter } from './class-filter.js';
import type { ModelDescription } from './detector.js';
import type { ModelFile, ModelFolder } from './model-folder.js';
import { parseClassNames, readOnnxMetadata } from './onnx-metadata.js';

export interface LoadedModel {
  file: ModelFile;
  native: NativeModel;
  classes: ClassFilter;
  /** Counts up with every use of any model: the least one was used longest ago. */
  lastUse: number;
  /** Set while the self-check finds the model blind or drifting; requests are then refused with it. */
  distrust: LatticeError | null;
  /** What the self-check finds wrong, by the index of the device. */
  faults: Map<number, string>;
}

export interface ModelLoader {
  loadModel(path: string): Promise<NativeModel>;
  unloadModel(modelId: number): void;
}

/** A file that cannot be used, remembered until size or time of change differ. */
interface Refusal {
  fingerprint: string;
  error: LatticeError;
}

export class ModelRegistry {
  readonly #folder: ModelFolder;
  readonly #loader: ModelLoader;
  readonly #admit: (model: LoadedModel) => Promise<void>;
  /** By name, ready for use without touching the disk. */
  readonly #ready = new Map<string, LoadedModel>();
  /** By path: names may share a file, and a file is compiled once. */
  readonly #loading = new Map<string, Promise<LoadedModel>>();
  readonly #refused = new Map<string, Refusal>();
  #uses = 0;

  /** `admit` checks a fresh model before its first request and rejects with `invalid_model` to refuse it. */
  constructor(
    folder: ModelFolder,
    loader: ModelLoader,
    admit: (model: LoadedModel) => Promise<void>,
  ) {
    this.#folder = folder;
    this.#loader = loader;
    this.#admit = admit;
  }

  get defaultName(): string {
    return this.#folder.defaultName;
  }

  /** The model when it is loaded; never waits. Counts as a use. */
  ready(name: string): LoadedModel | undefined {
    const model = this.#ready.get(name);
    if (model !== undefined) model.lastUse = this.#uses += 1;
    return model;
  }

  /** Every loaded model once. */
  loaded(): LoadedModel[] {
    return [...new Set(this.#ready.values())];
  }

  /** Rejects with `unknown_model`, or `invalid_model` with the reason. */
  async load(name: string): Promise<LoadedModel> {
    const known = this.ready(name);
    if (known !== undefined) return known;
    const file = await this.#folder.find(name);
    const fingerprint = await fingerprintOf(file.path);
    const refusal = this.#refused.get(file.path);
    if (refusal?.fingerprint === fingerprint) throw refusal.error;
    this.#refused.delete(file.path);
    let loading = this.#loading.get(file.path);
    if (loading === undefined) {
      loading = this.#loadFile(file, fingerprint);
      this.#loading.set(file.path, loading);
    }
    const model = await loading;
    this.#ready.set(name, model);
    return model;
  }

  async #loadFile(file: ModelFile, fingerprint: string): Promise<LoadedModel> {
    try {
      const native = await this.#loadWhereThereIsRoom(file.path);
      const lastUse = (this.#uses += 1);
      const classes = new ClassFilter(native.names);
      const faults = new Map<number, string>();
      const model: LoadedModel = { file, native, classes, lastUse, distrust: null, faults };
      try {
        await this.#admit(model);
      } catch (error) {
        this.#loader.unloadModel(native.modelId);
        throw error;
      }
      return model;
    } catch (thrown) {
      const error = toLatticeError(thrown);
      // Only the file's own fault lasts; lack of memory or a stop may be over at the next request.
      if (error.code === 'invalid_model') this.#refused.set(file.path, { fingerprint, error });
      this.#loading.delete(file.path);
      throw error;
    }
  }

  /** Where memory is short, models make room: the one used longest ago first, the default one never. */
  async #loadWhereThereIsRoom(path: string): Promise<NativeModel> {
    for (;;) {
      try {
        return await this.#loader.loadModel(path);
      } catch (thrown) {
        const short = toLatticeError(thrown).code === 'overloaded';
        if (!short || !this.#unloadLeastUsed()) throw thrown;
      }
    }
  }

  #unloadLeastUsed(): boolean {
    const standard = this.#ready.get(this.defaultName);
    const rest = this.loaded().filter((model) => model !== standard);
    const least = rest.sort((a, b) => a.lastUse - b.lastUse)[0];
    if (least === undefined) return false;
    for (const [name, model] of this.#ready) if (model === least) this.#ready.delete(name);
    this.#loading.delete(least.file.path);
    this.#loader.unloadModel(least.native.modelId);
    return true;
  }

  async describe(name: string): Promise<ModelDescription> {
    return this.#describe(await this.#folder.find(name));
  }

  /** The default model first. */
  async describeAll(): Promise<ModelDescription[]> {
    return Promise.all((await this.#folder.list()).map((file) => this.#describe(file)));
  }

  async #describe(file: ModelFile): Promise<ModelDescription> {
    const common = {
      name: file.name,
      bundled: file.bundled,
      isDefault: file.name === this.defaultName,
    };
    const model =
      this.#ready.get(file.name) ?? this.loaded().find((other) => other.file.path === file.path);
    if (model !== undefined) {
      const { native, distrust } = model;
      return {
        ...common,
        state: distrust === null ? 'ready' : 'refused',
        reason: distrust?.message ?? faultsOf(model),
        classes: native.names,
        device: native.device,
        precision: native.precision,
        input: { width: native.inputWidth, height: native.inputHeight },
        licence: file.licence ?? native.metadata.license ?? null,
      };
    }
    const refusal = this.#refused.get(file.path);
    const refused = refusal?.fingerprint === (await fingerprintOf(file.path)) ? refusal : null;
    // A file that cannot be read as ONNX is refused for good when somebody asks for it; listing is no load.
    const metadata: Record<string, string> = await readOnnxMetadata(file.path).catch(() => ({}));
    return {
      ...common,
      state: refused === null ? 'available' : 'refused',
      reason: refused?.error.message ?? null,
      classes: parseClassNames(metadata.names ?? ''),
      device: null,
      precision: null,
      input: null,
      licence: file.licence ?? metadata.license ?? null,
    };
  }
}

/** Which devices are out while others serve. */
function faultsOf({ faults }: LoadedModel): string | null {
  const each = [...faults].map(([index, fault]) => `GPU ${index} is out: ${fault}.`);
  return each.length === 0 ? null : each.join(' ');
}

/** Differs once a file was replaced; '' for a file that went away. */
async function fingerprintOf(path: string): Promise<string> {
  return stat(path).then(
    (entry) => `${entry.size}:${entry.mtimeMs}:${entry.ino}`,
    () => '',
  );
}
