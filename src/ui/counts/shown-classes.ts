/** The confidence and the classes that are switched off, both in the address, as the slider and the chips take them. */
import { computed, signal } from '@preact/signals';
import { setQuery } from '../address/location.js';
import { boxFilter, type BoxFilter } from '../picture/box-filter.js';

/** Percent, when another confidence is wanted first. */
export const FIRST_MIN = 50;
const LEAST = 0.01;

const choice = boxFilter(signal([]), {
  floor: signal(LEAST),
  first: signal(FIRST_MIN / 100),
  byClass: signal(new Map()),
});

/** The service filters: there are no boxes here, and a confidence that is none is that of each job. */
export const countFilter: BoxFilter = {
  ...choice,
  setThreshold: (value) => setQuery({ min: String(Math.round(value * 100)) }),
};

/** The filter with the classes of an answer. */
export const filterOf = (classes: readonly { name: string; boxes: number }[]): BoxFilter => ({
  ...countFilter,
  counts: computed(() => classes.map(({ name, boxes }) => ({ name, shown: boxes }))),
});

export const hiddenClasses = (): ReadonlySet<string> => choice.hidden.value;
