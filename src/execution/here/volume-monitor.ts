/** Logs which image folders do not answer, and when they answer again. */
import type { Logger } from '../../base/logger-port.js';

const LOOK_EVERY_MS = 1_000;

export interface VolumeMonitorOptions {
  roots: readonly string[];
  /** Positions in `roots`; null once the core is closed. */
  hanging: () => readonly number[] | null;
  logger: Logger;
}

/** Keeps no process alive and ends by itself. */
export function monitorVolumes({ roots, hanging, logger }: VolumeMonitorOptions): void {
  let known = new Set<number>();
  const timer = setInterval(() => {
    const positions = hanging();
    if (positions === null) {
      clearInterval(timer);
      return;
    }
    const now = new Set(positions);
    for (const root of positions) {
      if (known.has(root)) continue;
      logger.error({ folder: roots[root] }, 'the volume of an image folder does not answer');
    }
    for (const root of known) {
      if (now.has(root)) continue;
      logger.info({ folder: roots[root] }, 'the volume of an image folder answers again');
    }
    known = now;
  }, LOOK_EVERY_MS).unref();
}
