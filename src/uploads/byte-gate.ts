/** Bounds the bytes that are held at a time by making those wait that would hold more. */
export class ByteGate {
  readonly #most: number;
  #held = 0;
  #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Resolves once there is room, in any order; at once where nothing else is held. Returns how to give it back. */
  async enter(bytes: number): Promise<() => void> {
    while (this.#held > 0 && this.#held + bytes > this.#most) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#held += bytes;
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      this.#held -= bytes;
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const wake of waiting) wake();
    };
  }
}
