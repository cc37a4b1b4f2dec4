import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** Unix seconds; moves on by itself. */
export function useNow(everyMs: number): number {
  const now = useSignal(Date.now() / 1000);
  useEffect(() => {
    const timer = setInterval(() => (now.value = Date.now() / 1000), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, now]);
  return now.value;
}
