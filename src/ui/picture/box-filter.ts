import { computed, signal, type ReadonlySignal } from '@preact/signals';
import { classCountsAbove, shownBoxes, type Detection } from './shown-boxes.js';

export type BoxFilter = ReturnType<typeof boxFilter>;

/** What people choose of the detections, and what is shown then. */
export function boxFilter(detections: ReadonlySignal<readonly Detection[]>, first: number) {
  const threshold = signal(first);
  /** Classes that are switched off. */
  const hidden = signal<ReadonlySet<string>>(new Set());
  return {
    detections,
    threshold,
    hidden,
    boxes: computed(() =>
      shownBoxes(detections.value, { threshold: threshold.value, hidden: hidden.value }),
    ),
    counts: computed(() => classCountsAbove(detections.value, threshold.value)),
    toggleClass: (name: string): void => {
      const next = new Set(hidden.peek());
      if (!next.delete(name)) next.add(name);
      hidden.value = next;
    },
  };
}
