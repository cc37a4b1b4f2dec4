/** Runs a command that prints or cleans up before a signal ends it. */
import { constants } from 'node:os';
import type { Terminal } from './terminal.js';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
type EndSignal = (typeof SIGNALS)[number];

/**
 * Resolves as `work`; null where it rejects with an `AbortError` after a signal. The first SIGINT or SIGTERM aborts its
 * signal, with the name as the reason's message, and sets exit code 130 or 143, as shells have it, when the work has
 * ended; another one has its default effect.
 */
export async function untilSignal<T>(
  terminal: Terminal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const stop = new AbortController();
  let exitCode = 0;
  const unlisten = (): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  const onSignal = (signal: EndSignal): void => {
    exitCode = 128 + constants.signals[signal];
    unlisten();
    stop.abort(new DOMException(signal, 'AbortError'));
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    return await work(stop.signal);
  } catch (error) {
    if (stop.signal.aborted && error instanceof Error && error.name === 'AbortError') return null;
    throw error;
  } finally {
    unlisten();
    if (exitCode !== 0) terminal.setExitCode(exitCode);
  }
}
