/**
 * The model version that the images of a job run on: what the model's name stands for when the job begins. Where no
 * worker has it any more, after a restart say, it is what the name stands for then.
 */
import type { NamedVersion } from '../../api/schemas/model.js';

export class JobModel {
  readonly #onChange: () => void;
  #version: NamedVersion | null;
  #finding: Promise<void> | null = null;
  #lost = '';

  /** `known`: of a job that an earlier process began. `onChange` is called when `version` has changed. */
  constructor(known: NamedVersion | null, onChange: () => void) {
    this.#version = known;
    this.#onChange = onChange;
  }

  /** Null until it is known. */
  get version(): NamedVersion | null {
    return this.#version;
  }

  /** `find` is called once for all images. Null: it cannot be told; then the next ones run on what there is. */
  async of(find: () => Promise<NamedVersion | null>): Promise<NamedVersion | null> {
    if (this.#version !== null) return this.#version;
    this.#finding ??= find().then((found) => {
      if (found !== null) this.ranOn(found);
    });
    await this.#finding;
    return this.#version;
  }

  /** An image has run on it: the next ones do too, if none was known. */
  ranOn(version: NamedVersion): void {
    // A worker that names what none can run must not keep the job from its end.
    if (this.#version === null && version.digest !== this.#lost) this.#set(version);
  }

  /** No worker has it. False where that is known already. */
  lose(version: NamedVersion): boolean {
    if (this.#version?.digest !== version.digest) return false;
    this.#lost = version.digest;
    this.#finding = null;
    this.#set(null);
    return true;
  }

  #set(version: NamedVersion | null): void {
    this.#version = version;
    this.#onChange();
  }
}
