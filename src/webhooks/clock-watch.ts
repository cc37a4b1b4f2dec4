/** Notices that the system's clock was set back, by the clock that nobody sets. */

/** Both clocks are read one after the other, and the one counts whole milliseconds. */
const TOLERANCE_MS = 100;

export class ClockWatch {
  /** How far the system's clock is ahead of the steady one, as last heeded; null before that. */
  private aheadMs: number | null = null;

  /**
   * Calls `heed` with the time (Unix seconds) and the seconds that the clock was set back by since the last call. At
   * the first call nobody knows what happened before this process: then `heed` is called with 0 seconds. What it
   * rejects with goes to the caller, and the next call tells it again.
   */
  async onSetBack(heed: (now: number, setBackS: number) => Promise<void>): Promise<void> {
    const now = Date.now();
    const aheadMs = now - performance.now();
    const setBackMs = this.aheadMs === null ? 0 : this.aheadMs - aheadMs;
    if (this.aheadMs === null || setBackMs > TOLERANCE_MS) await heed(now / 1000, setBackMs / 1000);
    this.aheadMs = aheadMs;
  }
}
