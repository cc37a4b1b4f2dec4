/** Answers of a call that is repeated while it is shown. */
import { useSignal, type Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

const EVERY_MS = 3_000;
/** Pause after an answer, as a multiple of how long it took: what is dear is asked for less often. */
const PAUSE = 4;

export interface Repeated<T> {
  /** Null until the first answer came; what came last stays when a call fails. */
  answer: Signal<T | null>;
  /** Fault of the newest call. */
  fault: Signal<unknown>;
  /** Fault of the last action. */
  actionFault: Signal<unknown>;
  /** Asks now. Never rejects. */
  ask: () => Promise<void>;
  /** Waits for the work, then asks. False: it was refused, for the reason in `actionFault`. */
  act: (work: Promise<unknown>) => Promise<boolean>;
}

/**
 * `call` of the first render is the one that is repeated: a component of another call needs another key. After a fault
 * it is asked again at the next tick. `isLast`: after such an answer nothing new is expected.
 */
export function useRepeated<T>(
  call: () => Promise<T>,
  isLast: (answer: T) => boolean = () => false,
): Repeated<T> {
  const answer = useSignal<T | null>(null);
  const fault = useSignal<unknown>(null);
  const actionFault = useSignal<unknown>(null);
  /** Answers that were asked for before the newest request show what was before an action. */
  const asked = useRef(0);
  const open = useRef(0);
  const nextAt = useRef(0);
  const ask = async (): Promise<void> => {
    const turn = ++asked.current;
    const isNewest = (): boolean => turn === asked.current;
    const begunAt = performance.now();
    open.current += 1;
    let rest = 0;
    try {
      const came = await call();
      rest = isLast(came) ? Infinity : PAUSE * (performance.now() - begunAt);
      if (isNewest()) {
        answer.value = came;
        fault.value = null;
      }
    } catch (error) {
      if (isNewest()) fault.value = error;
    }
    nextAt.current = performance.now() + rest;
    open.current -= 1;
  };
  const act = async (work: Promise<unknown>): Promise<boolean> => {
    actionFault.value = null;
    const isDone = await work.then(
      () => true,
      (error: unknown) => {
        actionFault.value = error;
        return false;
      },
    );
    await ask();
    return isDone;
  };
  useEffect(() => {
    void ask();
    const timer = setInterval(() => {
      const isDue = performance.now() >= nextAt.current;
      if (!document.hidden && open.current === 0 && isDue) void ask();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return { answer, fault, actionFault, ask, act };
}
