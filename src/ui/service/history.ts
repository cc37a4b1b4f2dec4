/** Readings of the last quarter of an hour, taken by this page since it was opened. */
import { signal } from '@preact/signals';
import { keyAsked, service } from '../session/session.js';
import { readingOf, readMetrics, type Reading } from './reading.js';

export const HISTORY_S = 15 * 60;
const EVERY_MS = 5_000;
/** A busy service takes its time. */
const DEADLINE_MS = 30_000;

export const readings = signal<readonly Reading[]>([]);

export function startHistory(): void {
  void sample();
  setInterval(() => void sample(), EVERY_MS);
}

let isAsking = false;

async function sample(): Promise<void> {
  if (isAsking || keyAsked.peek() !== null) return;
  isAsking = true;
  const text = await service.metrics({ deadlineMs: DEADLINE_MS }).catch(() => null);
  isAsking = false;
  if (text === null) return;
  const at = Date.now() / 1000;
  const kept = readings.peek().filter((reading) => reading.at > at - HISTORY_S);
  readings.value = [...kept, readingOf(readMetrics(text), at)];
}
