/**
 * The process in which watched folders are scanned: a volume that hangs holds it, not the service. It keeps the version
 * of every file that it has seen, and says when some are stable.
 */
import { FolderScan, type ScanSpec } from './folder-scan.js';

/** A question of the service about a watch: a method of `FolderScan` and its arguments. */
export type ScanCall = Exclude<keyof FolderScan, 'close'>;

export type ToScanner =
  | { open: ScanSpec }
  | { close: number }
  | { id: number; watch: number; call: ScanCall; args: unknown[] };

export type FromScanner =
  /** It can be asked. */
  | { ready: true }
  | { id: number; value: unknown }
  | { id: number; failure: string }
  | { watch: number; told: 'stable' | 'scan' }
  /** It works, on this watch. */
  | { alive: number };

const ALIVE_MS = 1_000;

const scans = new Map<number, FolderScan>();
let saidAlive = 0;

function say(message: FromScanner): void {
  process.send?.(message);
}

function open(spec: ScanSpec): void {
  const { watch } = spec;
  scans.get(watch)?.close();
  const scan = new FolderScan(
    spec,
    (told) => {
      say({ watch, told });
    },
    () => {
      if (performance.now() - saidAlive < ALIVE_MS) return;
      saidAlive = performance.now();
      say({ alive: watch });
    },
  );
  scans.set(watch, scan);
}

async function answer(id: number, watch: number, call: ScanCall, args: unknown[]): Promise<void> {
  // Report the watch before work that may hang, so that the service knows whose volume hung.
  say({ alive: watch });
  try {
    const scan = scans.get(watch);
    if (scan === undefined) throw new Error('The watch is not open.');
    const method = Reflect.get(scan, call) as (...args: unknown[]) => unknown;
    say({ id, value: await method.apply(scan, args) });
  } catch (error) {
    say({ id, failure: error instanceof Error ? error.message : String(error) });
  }
}

process.on('message', (message: ToScanner) => {
  if ('open' in message) open(message.open);
  else if ('close' in message) {
    scans.get(message.close)?.close();
    scans.delete(message.close);
  } else void answer(message.id, message.watch, message.call, message.args);
});
// A terminal's signals are for the service; this process ends with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit(0));
say({ ready: true });
