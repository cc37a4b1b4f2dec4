/** The filter of the detections that people choose, and the boxes that are then shown. */
import { computed, type ReadonlySignal } from '@preact/signals';
import { listOf, listText } from '../address/address.js';
import { address, setQuery } from '../address/location.js';
import { classCountsAbove, shownBoxes, type Detection, type ShownBox } from './shown-boxes.js';

export interface BoxFilter {
  detections: ReadonlySignal<readonly Detection[]>;
  /** The slider goes no lower. */
  floor: ReadonlySignal<number>;
  threshold: ReadonlySignal<number>;
  /** Classes that are switched off. */
  hidden: ReadonlySignal<ReadonlySet<string>>;
  boxes: ReadonlySignal<readonly ShownBox[]>;
  counts: ReadonlySignal<readonly { name: string; shown: number }[]>;
  setThreshold: (value: number) => void;
  toggleClass: (name: string) => void;
}

interface Choices {
  /** Below it there may be boxes that are not in the answer. */
  floor: ReadonlySignal<number>;
  /** The threshold as long as none is chosen. */
  first: ReadonlySignal<number>;
  /** Thresholds of classes that have one of their own, which the slider leaves as it is. */
  byClass: ReadonlySignal<ReadonlyMap<string, number>>;
}

/** Filters an answer in the page, by the choice in the address. */
export function boxFilter(
  detections: ReadonlySignal<readonly Detection[]>,
  { floor, first, byClass }: Choices,
) {
  const threshold = computed(() =>
    Math.max(percentOf(address.value.query.min) ?? first.value, floor.value),
  );
  const thresholds = computed(() => ({ threshold: threshold.value, byClass: byClass.value }));
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

function percentOf(text = ''): number | null {
  return /^\d{1,3}$/.test(text) ? Math.min(1, Number(text) / 100) : null;
}
