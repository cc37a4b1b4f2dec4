/** The list of models, kept for moments so that a submit does not list the folder each time. */
import { LatticeError } from '../api/errors.js';
import type { ModelDescription } from '../api/schemas/model.js';
import { DEFAULT_PARAMETERS, type ModelDefaults } from '../api/options.js';
import type { Detector } from '../execution/detector.js';

const KEEP_MS = 5_000;
/** A name that is not in a list is looked for in a newer one. */
const KEEP_FOR_MISSING_MS = 500;

export class ModelCatalogue {
  readonly #detector: Pick<Detector, 'models' | 'prepare'>;
  readonly #now: () => number;
  #listed: Promise<ModelDescription[]> | null = null;
  #listedAt = 0;
  /** The last complete list, however old. */
  #last: readonly ModelDescription[] = [];

  constructor(detector: Pick<Detector, 'models' | 'prepare'>, now = () => performance.now()) {
    this.#detector = detector;
    this.#now = now;
  }

  /**
   * The class names of a model as far as they are known without loading it. Rejects with `unknown_model` (naming what
   * there is) or `invalid_model`.
   */
  async check(modelName: string): Promise<readonly string[]> {
    const model = await this.#find(modelName);
    if (model === undefined) return (await this.#detector.prepare(modelName)).classes;
    if (model.state === 'refused') {
      throw new LatticeError('invalid_model', model.reason ?? `${modelName} cannot be used.`);
    }
    return model.classes;
  }

  /** The class names of a model. The model is loaded only if its file has none. Empty: they are unknown. */
  async classesOf(modelName: string): Promise<readonly string[]> {
    const model = this.#loadedBefore(modelName) ?? (await this.#find(modelName));
    if (model !== undefined && model.classes.length > 0) return model.classes;
    return (await this.#detector.prepare(modelName)).classes;
  }

  /** Defaults for requests that give no value. A model that cannot be found is refused elsewhere. */
  async defaultsOf(modelName: string): Promise<ModelDefaults> {
    const model =
      this.#loadedBefore(modelName) ?? (await this.#find(modelName).catch(() => undefined));
    return { confidence: model?.confidenceThreshold ?? DEFAULT_PARAMETERS.confidence };
  }

  /** The next question is answered from a new list. */
  forget(): void {
    this.#listed = null;
    this.#last = [];
  }

  /** A loaded model keeps its classes until its file is replaced: no synchronous request waits for a new list. */
  #loadedBefore(modelName: string): ModelDescription | undefined {
    const model = this.#last.find(({ name, state }) => name === modelName && state === 'ready');
    if (model !== undefined) this.#list().catch(() => undefined);
    return model;
  }

  async #find(modelName: string): Promise<ModelDescription | undefined> {
    const named = (models: ModelDescription[]) => models.find(({ name }) => name === modelName);
    // A file may be newer than the list.
    return named(await this.#list()) ?? named(await this.#list(KEEP_FOR_MISSING_MS));
  }

  async #list(keepMs = KEEP_MS): Promise<ModelDescription[]> {
    if (this.#listed === null || this.#now() - this.#listedAt >= keepMs) {
      this.#listedAt = this.#now();
      this.#listed = this.#detector.models();
      this.#listed.then(
        (models) => (this.#last = models),
        () => (this.#listed = null),
      );
    }
    return this.#listed;
  }
}
