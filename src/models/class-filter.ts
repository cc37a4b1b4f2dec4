/** Class names of a request -> class names and ids of a model. */
import { LatticeError } from '../api/errors.js';
import { ALL_CLASSES, DEFAULT_VEHICLES, isDefaultVehicles } from '../api/options.js';
import { classKey } from '../api/class-key.js';

const MOST_LISTED = 100;

/**
 * The model's spelling of each requested name, each once; null where `*` is among them. `unknown` has the indices of
 * the names that the model lacks.
 */
export function matchClasses(
  requested: readonly string[],
  known: readonly string[],
): { classes: string[] | null; unknown: number[] } {
  const spelling = new Map(known.map((name) => [classKey(name), name]));
  const found = requested.map((name) => spelling.get(classKey(name)));
  const unknown = requested.flatMap((name, index) =>
    classKey(name) !== ALL_CLASSES && found[index] === undefined ? [index] : [],
  );
  const classes = [...new Set(found.filter((name) => name !== undefined))];
  return { classes: requested.map(classKey).includes(ALL_CLASSES) ? null : classes, unknown };
}

/** The sentences about a class that a model lacks. */
export function noSuchClass(modelName: string, missing: string, known: readonly string[]): string {
  const more = known.length > MOST_LISTED ? ` and ${known.length - MOST_LISTED} more` : '';
  const listed = known.slice(0, MOST_LISTED).join(', ') || 'none';
  return `${modelName} has no class '${missing}'. Its classes: ${listed}${more}.`;
}

/** The classes of one model, looked up by `classKey`. */
export class ClassFilter {
  readonly #classes: readonly string[];
  /** A model may hold one name twice or in two spellings; a filter on the name means all of them. */
  readonly #ids = new Map<string, number[]>();
  /** Answers by the list that was asked for: the images of a job, and requests without one, ask for the same list. */
  readonly #answers = new WeakMap<readonly string[], number[] | null>();
  /** The model has none of the default vehicles, which then stand for all its classes. */
  readonly lacksVehicles: boolean;

  constructor(classes: readonly string[]) {
    this.#classes = classes;
    classes.forEach((name, id) => {
      const key = classKey(name);
      this.#ids.set(key, [...(this.#ids.get(key) ?? []), id]);
    });
    this.lacksVehicles = this.ids(DEFAULT_VEHICLES) === null;
  }

  /**
   * The ids of `names`, ascending, or null for all classes. A name that the model lacks throws `validation_failed` with
   * the model's classes. Of the default vehicles, those that the model has are taken; if it has none, all its classes.
   */
  ids(names: readonly string[] | null): number[] | null {
    if (names === null) return null;
    const known = this.#answers.get(names);
    if (known !== undefined) return known;
    const ids = this.#idsOf(names);
    this.#answers.set(names, ids);
    return ids;
  }

  #idsOf(names: readonly string[]): number[] | null {
    const ids = new Set(names.flatMap((name) => this.#ids.get(classKey(name)) ?? []));
    if (isDefaultVehicles(names)) {
      if (ids.size === 0) return null;
    } else {
      const missing = names.find((name) => !this.#ids.has(classKey(name)));
      if (missing !== undefined) {
        throw new LatticeError(
          'validation_failed',
          noSuchClass('The model', missing, this.#classes),
        );
      }
    }
    return [...ids].sort((a, b) => a - b);
  }
}
