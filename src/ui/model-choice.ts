/** The model of a form, and the classes that this model offers. */
import { element, named } from './elements.js';
import { visible } from './format.js';
import { ALL_CLASSES, offeredClasses, usableModels } from './offered-classes.js';
import type { Model } from '../client/records.js';

export class ModelChoice {
  readonly #model: HTMLSelectElement;
  readonly #classes: HTMLSelectElement;
  #models: readonly Model[] = [];

  /** The form has the elements PREFIX-model and PREFIX-classes. */
  constructor(prefix: string) {
    this.#model = named(`${prefix}-model`, HTMLSelectElement);
    this.#classes = named(`${prefix}-classes`, HTMLSelectElement);
    this.#model.addEventListener('change', () => {
      this.#offerClasses();
    });
  }

  get hasModels(): boolean {
    return this.#model.length > 0;
  }

  /** Empty for the default one. */
  get model(): string {
    return this.#model.value;
  }

  /** Empty for those that a request without classes gets. */
  get classes(): string[] {
    return [...this.#classes.selectedOptions].map(({ value }) => value);
  }

  /** What is chosen stays chosen, if it is still offered. */
  offer(models: readonly Model[]): void {
    const chosen = this.model;
    this.#models = usableModels(models);
    const options = this.#models.map(({ name }) => element('option', { value: name }, name));
    this.#model.replaceChildren(...options);
    const wanted =
      this.#models.find(({ name }) => name === chosen) ?? this.#models.find((m) => m.is_default);
    if (wanted !== undefined) this.#model.value = wanted.name;
    this.#offerClasses();
  }

  /** For work that has its classes from elsewhere. */
  enableClasses(enabled: boolean): void {
    this.#classes.disabled = !enabled;
  }

  #offerClasses(): void {
    const chosen = new Set(this.classes);
    const options = offeredClasses(this.#models, this.model).map((name) => {
      const text = name === ALL_CLASSES ? 'all classes' : visible(name);
      const option = element('option', { value: name }, text);
      option.selected = chosen.has(name);
      return option;
    });
    this.#classes.replaceChildren(...options);
  }
}
