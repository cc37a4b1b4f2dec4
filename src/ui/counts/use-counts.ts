/** The counts of a choice, asked for when it changes, and again while they are shown. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { askCounts, type ShownCounts } from './counts-calls.js';
import type { CountsChoice } from './counts-choice.js';

/** A slider moves faster than counts can be asked for. */
const SETTLE_MS = 150;
const EVERY_MS = 15_000;

interface AskedCounts {
  /** What came last, also for an earlier choice; null before the first. */
  shown: ShownCounts | null;
  fault: unknown;
  /** `shown` answers an earlier choice. */
  isOld: boolean;
  ask: () => void;
}

/** Null: nothing is asked for. */
export function useCounts(choice: CountsChoice | null): AskedCounts {
  const shown = useSignal<{ counts: ShownCounts; key: string } | null>(null);
  const fault = useSignal<unknown>(null);
  const key = JSON.stringify(choice);
  const newest = useRef(key);
  newest.current = key;
  const ask = (): void => {
    if (choice === null) return;
    askCounts(choice).then(
      (counts) => {
        if (newest.current !== key) return;
        shown.value = { counts, key };
        fault.value = null;
      },
      (error: unknown) => {
        if (newest.current === key) fault.value = error;
      },
    );
  };
  useEffect(() => {
    fault.value = null;
    const first = setTimeout(ask, shown.peek() === null ? 0 : SETTLE_MS);
    const timer = setInterval(() => {
      if (!document.hidden) ask();
    }, EVERY_MS);
    return () => {
      clearTimeout(first);
      clearInterval(timer);
    };
  }, [key]);
  const { counts = null, key: shownKey = key } = shown.value ?? {};
  return { shown: counts, fault: fault.value, isOld: shownKey !== key, ask };
}
