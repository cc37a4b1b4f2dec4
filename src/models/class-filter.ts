/** Class names of a request -> class ids of a model. */
import { LatticeError } from '../errors.js';

/** What the interface calls vehicles when a request names no classes. */
export const DEFAULT_VEHICLES: readonly string[] = ['car', 'motorcycle', 'bus', 'truck'];

/** The classes of one model, looked up without letter case. */
export class ClassFilter {
  readonly #classes: readonly string[];
  /** A model may hold one name twice or in two spellings; a filter on the name means all of them. */
  readonly #ids = new Map<string, number[]>();

  constructor(classes: readonly string[]) {
    this.#classes = classes;
    classes.forEach((name, id) => {
      const key = name.toLowerCase();
      this.#ids.set(key, [...(this.#ids.get(key) ?? []), id]);
    });
  }

  /**
   * The ids of `names`, ascending, or null for all classes. A name that the model lacks throws
   * `validation_failed` naming the model's classes. Of the default vehicles,
   * those that the model has are taken, at least one.
   */
  ids(names: readonly string[] | null): number[] | null {
    if (names === null) return null;
    const ids = new Set<number>();
    const unknown: string[] = [];
    for (const name of names) {
      const found = this.#ids.get(name.toLowerCase());
      if (found === undefined) unknown.push(name);
      for (const id of found ?? []) ids.add(id);
    }
    if (unknown.length > 0 && !(ids.size > 0 && isDefaultVehicles(names))) {
      throw new LatticeError(
        'validation_failed',
        `The model has no class ${unknown.map((name) => `'${name}'`).join(', ')}. ` +
          `Its classes: ${this.#classes.join(', ')}.`,
      );
    }
    return [...ids].sort((a, b) => a - b);
  }
}

function isDefaultVehicles(names: readonly string[]): boolean {
  return (
    names.length === DEFAULT_VEHICLES.length &&
    DEFAULT_VEHICLES.every((name) => names.includes(name))
  );
}
