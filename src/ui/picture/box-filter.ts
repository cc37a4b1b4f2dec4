/**
 * The filter of the detections that people choose, and the boxes that are then shown. The choice is that of the
 * address.
 */
import { computed, type ReadonlySignal } from '@preact/signals';
import { listOf, listText } from '../address/address.js';
import { address, setQuery } from '../address/location.js';
import { classCountsAbove, shownBoxes, type Detection } from './shown-boxes.js';

export type BoxFilter = ReturnType<typeof boxFilter>;

interface Choices {
  /** The slider goes no lower. */
  floor: ReadonlySignal<number>;
  /** The threshold as long as none is chosen. */
  first: ReadonlySignal<number>;
  /** Below it there may be boxes that are not in the answer: it is the threshold then. */
  known: ReadonlySignal<number>;
  /** Thresholds of classes that have one of their own, which the slider leaves as it is. */
  byClass?: ReadonlySignal<ReadonlyMap<string, number>>;
}

export function boxFilter(
  detections: ReadonlySignal<readonly Detection[]>,
  { floor, first, known, byClass }: Choices,
) {
  const threshold = computed(() => {
    const chosen = percentOf(address.value.query.min);
    return chosen === null ? Math.max(first.value, floor.value) : Math.max(chosen, known.value);
  });
  const thresholds = computed(() => ({ threshold: threshold.value, byClass: byClass?.value }));
  /** Classes that are switched off. */
  const hidden = computed((): ReadonlySet<string> => new Set(listOf(address.value.query.hide)));
  return {
    detections,
    floor,
    threshold,
    thresholds,
    hidden,
    boxes: computed(() =>
      shownBoxes(detections.value, { ...thresholds.value, hidden: hidden.value }),
    ),
    counts: computed(() => classCountsAbove(detections.value, thresholds.value)),
    setThreshold: (value: number): void => {
      const percent = Math.round(Math.min(1, Math.max(0, value)) * 100);
      const isFirst = percent === Math.round(Math.max(first.peek(), floor.peek()) * 100);
      setQuery({ min: isFirst ? '' : String(percent) });
    },
    toggleClass: (name: string): void => {
      const next = new Set(hidden.peek());
      if (!next.delete(name)) next.add(name);
      setQuery({ hide: listText([...next]) });
    },
  };
}

/** The choice that a link to another picture takes along. */
export function keptChoice(): Record<string, string> {
  const { min = '', hide = '' } = address.value.query;
  return { min, hide };
}

function percentOf(text = ''): number | null {
  return /^\d{1,3}$/.test(text) ? Math.min(1, Number(text) / 100) : null;
}
