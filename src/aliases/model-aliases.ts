/**
 * Aliases: names of requests that stand for models. All are in memory, because every image looks for its own; only this
 * process writes the store.
 */
import { createHash } from 'node:crypto';
import { inTime } from '../base/in-time.js';
import { classKey } from '../api/class-key.js';
import { LatticeError } from '../api/errors.js';
import type { ModelDescription } from '../api/schemas/model.js';
import type { AliasContent } from '../api/schemas/model-alias.js';
import type { StoredAlias } from '../store/alias-rows.js';
import { nameNotFound, type Put } from '../store/named-versions.js';
import type { ServiceStore } from '../store/service-store.js';
import type { Detector } from '../execution/detector.js';

export type AliasStore = Pick<
  ServiceStore,
  'aliasVersion' | 'putAlias' | 'aliasBefore' | 'rollBackAlias' | 'deleteAlias'
>;

/** An engine of a GPU may have to be built. */
const LOAD_MS = 60_000;

type Models = Pick<Detector, 'prepare'>;

export class ModelAliases {
  readonly #store: AliasStore;
  readonly #models: Models;
  readonly #byName: Map<string, StoredAlias>;

  /** `models` knows models by their own names only; `stored`: all that the store has. */
  constructor(store: AliasStore, models: Models, stored: readonly StoredAlias[]) {
    this.#store = store;
    this.#models = models;
    this.#byName = new Map(stored.map((alias) => [alias.name, alias]));
  }

  /** Lists the aliases by name. */
  list(): StoredAlias[] {
    return [...this.#byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  find(name: string): StoredAlias | undefined {
    return this.#byName.get(name);
  }

  /** The newest version, or an earlier one, also of an alias that was deleted since. Rejects with `alias_not_found`. */
  async get(name: string, version?: number): Promise<StoredAlias> {
    const alias = this.#byName.get(name);
    const wanted = version ?? alias?.version;
    if (wanted === undefined) throw nameNotFound('alias', name);
    return wanted === alias?.version ? alias : this.#store.aliasVersion(name, wanted);
  }

  /**
   * Resolves once its models are loaded and it is on disk: requests that begin from then on use it. Rejects with the
   * code of a model that cannot be used, with `validation_failed` for a canary that lacks a class of the model, and
   * with `alias_changed` where another call has changed the alias since this one began.
   */
  put(name: string, content: AliasContent): Promise<Put<StoredAlias>> {
    return this.#replace(name, content, this.#byName.get(name)?.version ?? null);
  }

  async #replace(
    name: string,
    content: AliasContent,
    from: number | null,
  ): Promise<Put<StoredAlias>> {
    await this.#check(content);
    const put = await this.#store.putAlias(name, content, Date.now() / 1000, from);
    this.#byName.set(name, put.stored);
    return put;
  }

  /**
   * The canary answers all requests from then on, without one the shadow. Rejects as `put`, and with `no_other_model`.
   */
  async promote(name: string): Promise<StoredAlias> {
    const { canary, shadow, version } = await this.get(name);
    const model = canary?.model ?? shadow;
    if (model === null) {
      const detail = `The alias '${name}' has neither a canary nor a shadow to promote.`;
      throw new LatticeError('no_other_model', detail);
    }
    return (await this.#replace(name, { model, canary: null, shadow: null }, version)).stored;
  }

  /**
   * Restores the content from before the last change, as a new version; called again, the content from before that.
   * Rejects as `put`, and with `no_other_model` where there is nothing before.
   */
  async rollBack(name: string): Promise<StoredAlias> {
    const { version } = await this.get(name);
    await this.#check(await this.#store.aliasBefore(name));
    const alias = await this.#store.rollBackAlias(name, Date.now() / 1000, version);
    this.#byName.set(name, alias);
    return alias;
  }

  /** Rejects with `alias_not_found`. */
  async remove(name: string): Promise<void> {
    await this.#store.deleteAlias(name, Date.now() / 1000);
    this.#byName.delete(name);
  }

  async #check({ model, canary, shadow }: AliasContent): Promise<void> {
    const { classes } = await this.#load(model);
    if (shadow !== null) await this.#load(shadow);
    if (canary === null) return;
    const known = new Set((await this.#load(canary.model)).classes.map(classKey));
    const missing = classes.filter((name) => !known.has(classKey(name)));
    if (missing.length === 0) return;
    const detail =
      `The canary '${canary.model}' lacks classes of '${model}' (${missing.slice(0, 5).join(', ')}): requests that ask ` +
      'for them would depend on which of the two answers. Try it as a shadow.';
    throw new LatticeError('validation_failed', detail, {
      errors: [{ detail, pointer: '#/canary/model' }],
    });
  }

  async #load(modelName: string): Promise<ModelDescription> {
    const model = await inTime(this.#models.prepare(modelName), LOAD_MS, null);
    if (model !== null) return model;
    throw new LatticeError(
      'model_not_ready',
      `The model '${modelName}' is still being loaded. Its load goes on: try again when GET /v1/models calls it ready.`,
    );
  }
}

/** The models that answer requests: all but shadows. */
export function answeringModels(aliases: readonly StoredAlias[]): string[] {
  return aliases.flatMap(({ model, canary }) =>
    canary === null ? [model] : [model, canary.model],
  );
}

/**
 * The model that answers; the same `key` always falls to the same one while the alias stays as it is. It is asked for
 * only where there is a canary.
 */
export function modelOf({ name, model, canary }: StoredAlias, key: () => string): string {
  if (canary === null) return model;
  const hash = createHash('sha256').update(`${name}\n${key()}`).digest();
  return hash.readUInt32BE(0) / 2 ** 32 < canary.share ? canary.model : model;
}
