/** The views that the service has stored. */
import { signal } from '@preact/signals';
import type { Region } from '../../api/region-rules.js';
import type { View } from '../../client/records.js';
import { service, show } from '../session/session.js';

/** Null until the first list came. */
export const views = signal<readonly View[] | null>(null);
const viewsFault = signal<unknown>(null);

export function loadViews(): Promise<void> {
  return show(service.views(), views, viewsFault);
}

export const viewNamed = (name: string): View | undefined =>
  views.value?.find((each) => each.name === name);

/** Null where the view has changed since it was listed: it is listed anew, and the next call replaces it. */
export async function saveView(name: string, regions: readonly Region[]): Promise<View | null> {
  const before = viewNamed(name);
  views.value = await service.views();
  const now = viewNamed(name);
  if (now?.version !== before?.version) return null;
  // A PUT replaces all of the view.
  const stored = await service.putView(name, { regions: [...regions], paths: now?.paths ?? [] });
  await loadViews();
  return stored;
}

export async function deleteView(name: string): Promise<void> {
  await service.deleteView(name);
  await loadViews();
}
