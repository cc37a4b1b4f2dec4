/** A command that has something to say or to tidy up before a signal ends it. */
import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
type EndSignal = (typeof SIGNALS)[number];

/** 130 and 143, as shells have it. */
export function exitCodeOf(signal: EndSignal): number {
  return 128 + constants.signals[signal];
}

/** Tells of the first signal; from then on, and after `unlisten`, signals do what they do by default. */
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
