/** For a command that prints or cleans up before a signal ends it. */
import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
type EndSignal = (typeof SIGNALS)[number];

/** 130 and 143, as shells have it. */
export function exitCodeOf(signal: EndSignal): number {
  return 128 + constants.signals[signal];
}

/** Reports the first signal; afterwards, and after `unlisten`, signals have their default effect. */
export class FirstSignal {
  received: EndSignal | null = null;
  readonly #listen: (signal: NodeJS.Signals) => void;

  constructor(tell: () => void) {
    this.#listen = (signal) => {
      this.received = SIGNALS.find((each) => each === signal) ?? null;
      this.unlisten();
      tell();
    };
    for (const signal of SIGNALS) process.on(signal, this.#listen);
  }

  unlisten(): void {
    for (const signal of SIGNALS) process.off(signal, this.#listen);
  }
}
