/** Digests of the files that model names stand for: two machines with the same digest run the same model. */
import { inTime } from '../base/in-time.js';
import { digestModel } from '../native/core.js';
import { shortDigest } from './loaded-model.js';
import type { ModelFile, ModelFolder } from './model-folder.js';
import { fingerprintOf } from './model-stamp.js';

/** Files are looked at no more often; only one that has changed is read again. */
const LOOK_EVERY_MS = 5_000;
const FIRST_LOOK_WITHIN_MS = 20_000;

/** Starts no timer: it looks again when it is asked and its knowledge is old. */
export class ModelDigests {
  readonly #folder: Pick<ModelFolder, 'list'>;
  /** Digests that were computed, by path. */
  readonly #known = new Map<string, { fingerprint: string; digest: string }>();
  #digests: Readonly<Record<string, string>> = {};
  #looking: Promise<void> | null = null;
  #lookedAt = -Infinity;

  /** Begins to read the files. */
  constructor(folder: Pick<ModelFolder, 'list'>) {
    this.#folder = folder;
    void this.#look();
  }

  /** Resolves when the files have been read once, or after 20 s: a volume may hang. Never rejects. */
  async ready(): Promise<void> {
    await inTime(this.#looking ?? Promise.resolve(), FIRST_LOOK_WITHIN_MS, undefined);
  }

  /** Model name -> digest, as results name it. A change of a file shows after a few seconds. */
  current(): Readonly<Record<string, string>> {
    if (performance.now() - this.#lookedAt >= LOOK_EVERY_MS) void this.#look();
    return this.#digests;
  }

  #look(): Promise<void> {
    this.#looking ??= this.#digestAll()
      .catch(() => undefined)
      .finally(() => {
        this.#looking = null;
        this.#lookedAt = performance.now();
      });
    return this.#looking;
  }

  async #digestAll(): Promise<void> {
    const digests: Record<string, string> = {};
    for (const file of await this.#folder.list()) {
      const digest = await this.#digestOf(file).catch(() => null);
      if (digest !== null) digests[file.name] = digest;
    }
    this.#digests = digests;
  }

  async #digestOf({ path }: ModelFile): Promise<string> {
    const fingerprint = await fingerprintOf(path);
    const known = this.#known.get(path);
    if (known?.fingerprint === fingerprint) return known.digest;
    const digest = shortDigest(await digestModel(path));
    this.#known.set(path, { fingerprint, digest });
    return digest;
  }
}
