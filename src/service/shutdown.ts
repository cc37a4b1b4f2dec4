/** The signals that stop or reload a process, and its end where it hangs. */
import type { Logger } from '../base/logger-port.js';

/** Resolves with the name of the first SIGTERM or SIGINT; a second one ends the process at once. */
export function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    let stopping = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (stopping) process.exit(1);
        stopping = true;
        resolve(signal);
      });
    }
  });
}

/** Calls `reload` at each SIGHUP, which ends a process that listens to none. */
export function onReloadSignal(reload: () => void): void {
  process.on('SIGHUP', reload);
}

/**
 * A call that hangs in a driver or a file system also blocks the exit of the process: only SIGKILL ends it. `log` must
 * write synchronously: nothing is written after the kill.
 */
export function endAtOnce(log: Pick<Logger, 'error'>): void {
  const holding = process.getActiveResourcesInfo();
  log.error({ holding }, 'not everything could be stopped: the process is killed');
  process.kill(process.pid, 'SIGKILL');
}
