/** What models there are, remembered for moments so that a submit does not list the folder each time. */
import { LatticeError } from '../../errors.js';
import type { ModelDescription } from '../../contract/model-description.js';
import type { Detector } from '../../execution/detector.js';

const KEEP_MS = 5_000;

export class ModelCatalogue {
  readonly #detector: Pick<Detector, 'models' | 'prepare'>;
  readonly #now: () => number;
  #listed: Promise<ModelDescription[]> | null = null;
  #listedAt = 0;
  readonly #classes = new Map<string, { at: number; classes: readonly string[] }>();

  constructor(detector: Pick<Detector, 'models' | 'prepare'>, now = () => performance.now()) {
    this.#detector = detector;
    this.#now = now;
  }

  /** Rejects with `unknown_model` (naming what there is) or `invalid_model`; does not load the model. */
  async check(modelName: string): Promise<void> {
    const model = (await this.#list()).find((entry) => entry.name === modelName);
    if (model === undefined) await this.#detector.prepare(modelName);
    else if (model.state === 'refused') {
      throw new LatticeError('invalid_model', model.reason ?? `${modelName} cannot be used.`);
    }
  }

  /** Class names of a model; loads it when they are not known yet. */
  async classesOf(modelName: string): Promise<readonly string[]> {
    const kept = this.#classes.get(modelName);
    if (kept !== undefined && this.#now() - kept.at < KEEP_MS) return kept.classes;
    const { classes } = await this.#detector.prepare(modelName);
    this.#classes.set(modelName, { at: this.#now(), classes });
    return classes;
  }

  async #list(): Promise<ModelDescription[]> {
    if (this.#listed === null || this.#now() - this.#listedAt >= KEEP_MS) {
      this.#listedAt = this.#now();
      this.#listed = this.#detector.models();
      this.#listed.catch(() => {
        this.#listed = null;
      });
    }
    return this.#listed;
  }
}
