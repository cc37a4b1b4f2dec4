/** The counts of a choice, asked for when it changes, and again while they are shown. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { askCounts } from './counts-calls.js';
import type { ShownCounts } from './counts-request.js';
import type { CountsChoice } from './counts-choice.js';

/** A slider moves faster than counts can be asked for. */
const SETTLE_MS = 150;
const EVERY_MS = 15_000;
/** Pause after an answer, as a multiple of how long it took. */
const PAUSE = 4;

interface AskedCounts {
  /** The newest answer, also for an earlier choice; null before the first. */
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
  const ask = async (): Promise<void> => {
    if (choice === null) return;
    try {
      const counts = await askCounts(choice);
      if (newest.current !== key) return;
      shown.value = { counts, key };
      fault.value = null;
    } catch (error) {
      if (newest.current === key) fault.value = error;
    }
  };
  useEffect(() => {
    fault.value = null;
    const stop = new AbortController();
    let timer = setTimeout(() => void repeat(), shown.peek() === null ? 0 : SETTLE_MS);
    const repeat = async (): Promise<void> => {
      const begunAt = performance.now();
      if (!document.hidden) await ask();
      if (stop.signal.aborted) return;
      const rest = Math.max(EVERY_MS, PAUSE * (performance.now() - begunAt));
      timer = setTimeout(() => void repeat(), rest);
    };
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [key]);
  const { counts = null, key: shownKey = key } = shown.value ?? {};
  return { shown: counts, fault: fault.value, isOld: shownKey !== key, ask: () => void ask() };
}
