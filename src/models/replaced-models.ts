/**
 * Models whose file was replaced or removed: each stays loaded until its last image, and as long as a job runs on it.
 */
import type { ModelVersion } from '../api/schemas/model.js';
import type { LoadedModel } from './loaded-model.js';

export class ReplacedModels {
  readonly #models = new Set<LoadedModel>();
  readonly #unload: (model: LoadedModel) => void;
  #kept: readonly ModelVersion[] = [];

  constructor(unload: (model: LoadedModel) => void) {
    this.#unload = unload;
  }

  get all(): LoadedModel[] {
    return [...this.#models];
  }

  add(model: LoadedModel): void {
    this.#models.add(model);
    this.release();
  }

  /** A name stands for it again, because its file is back. */
  takeBack(model: LoadedModel): void {
    this.#models.delete(model);
  }

  /** Keeps the versions that jobs run on; they replace the list of the last call. */
  keep(versions: readonly ModelVersion[]): void {
    this.#kept = versions;
    this.release();
  }

  /** Unloads those that are not needed any more. Call it when an image has ended. */
  release(): void {
    for (const model of this.#models) {
      const isKept = this.#kept.some((version) => closeness(model.version, version) > 0);
      if (model.inHand === 0 && !isKept) this.drop(model);
    }
  }

  /** Unloads one although a job may need it. */
  drop(model: LoadedModel): void {
    if (this.#models.delete(model)) this.#unload(model);
  }
}

/** Finds the model of `models` that is this version; null if there is none. */
export function findVersion(
  models: readonly LoadedModel[],
  wanted: ModelVersion,
): LoadedModel | null {
  const rank = (model: LoadedModel) => closeness(model.version, wanted);
  return [...models].sort((a, b) => rank(b) - rank(a)).find((model) => rank(model) > 0) ?? null;
}

/** 2: the same file was loaded. 1: files of one model, of which one is a copy in 8 bits; machines choose by speed. */
function closeness(one: ModelVersion, other: ModelVersion): number {
  if (one.digest === other.digest) return 2;
  return one.source === other.source ? 1 : 0;
}
