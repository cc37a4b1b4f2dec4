/** Numbers of classes, from 0, in the order of the model: the same in every export of the same model. */
export class ClassNumbers {
  readonly #numbers: Map<string, number>;

  constructor(classes: readonly string[]) {
    this.#numbers = new Map();
    for (const name of classes) this.of(name);
  }

  /** A name that the model does not have (it was replaced or removed since) gets the next free number. */
  of(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    this.#numbers.set(name, number);
    return number;
  }

  /** Every class so far, in the order of the numbers. */
  get names(): string[] {
    return [...this.#numbers.keys()];
  }
}
