/** What a call answers, asked for again and again while it is shown. */
import { useSignal, type Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

const EVERY_MS = 3_000;

export interface Asked<T> {
  /** Null until the first answer came; what came last stays when a call fails. */
  answer: Signal<T | null>;
  /** Of the newest call. */
  fault: Signal<unknown>;
  /** Of what was done last. */
  actionFault: Signal<unknown>;
  /** Asks now. Never rejects. */
  ask: () => Promise<void>;
  /** Waits for the work, then asks. False: it was refused, for the reason in `actionFault`. */
  act: (work: Promise<unknown>) => Promise<boolean>;
}

export function useAsked<T>(call: () => Promise<T>): Asked<T> {
  const answer = useSignal<T | null>(null);
  const fault = useSignal<unknown>(null);
  const actionFault = useSignal<unknown>(null);
  /** Answers that were asked for before the newest request show what was before an action. */
  const asked = useRef(0);
  const open = useRef(0);
  const ask = async (): Promise<void> => {
    const turn = ++asked.current;
    const isNewest = (): boolean => turn === asked.current;
    open.current += 1;
    try {
      const came = await call();
      if (isNewest()) {
        answer.value = came;
        fault.value = null;
      }
    } catch (error) {
      if (isNewest()) fault.value = error;
    }
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
      if (!document.hidden && open.current === 0) void ask();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return { answer, fault, actionFault, ask, act };
}
