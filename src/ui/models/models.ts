/** The models that requests may name. */
import { effect, signal } from '@preact/signals';
import type { Model } from '../../client/records.js';
import { connection } from '../live/live.js';
import { keyAsked, service, show } from '../session/session.js';

/** Null until the first list came. */
export const models = signal<readonly Model[] | null>(null);
export const modelsFault = signal<unknown>(null);

export async function loadModels(): Promise<void> {
  await show(service.models(), models, modelsFault);
}

/** Asks at once, and again for a list that failed once the service is there. */
export function startModels(): void {
  effect(() => {
    if (keyAsked.value === null) void loadModels();
  });
  effect(() => {
    if (connection.value.kind === 'live' && modelsFault.peek() !== null) void loadModels();
  });
}
