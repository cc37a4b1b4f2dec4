/** The regions that the detect view shows and asks for: those of a view, or those that were drawn here. */
import { computed, effect, signal } from '@preact/signals';
import type { Region } from '../../api/region-rules.js';
import type { DetectResponse, View } from '../../client/records.js';
import { address } from '../address/location.js';
import type { Share } from '../picture/view-window.js';
import { service } from '../session/session.js';
import { drawingFaults } from './drawn-regions.js';

/** A corner is dragged through many places. */
const SETTLED_MS = 400;

interface Drawn {
  /** The address at which they were drawn: with another one they are not shown. */
  address: string;
  /** The view that they were made from; empty: none. */
  view: string;
  regions: readonly Region[];
}

/** The view of the address; empty: the service looks for one by the path. */
export const view = computed(() => address.value.query.view ?? '');
/** Whose regions the answer has. */
export const used = signal<Pick<View, 'name' | 'version' | 'regions'> | null>(null);

const made = signal<Drawn | null>(null);
const settled = signal<Drawn | null>(null);
const ofAddress = (drawn: Drawn | null) => (drawn?.address === view.value ? drawn : null);

/** Null: those of the view. */
export const drawn = computed(() => ofAddress(made.value)?.regions ?? null);
export const shown = computed(() => drawn.value ?? used.value?.regions ?? []);
export const faults = computed(() => drawingFaults(drawn.value ?? []));
/** The drawn regions as requests have them. Null: there are none, and the view counts. */
export const asked = computed(() =>
  drawn.value === null ? null : (ofAddress(settled.value)?.regions ?? null),
);
/** The name of the view that is shown or was changed. */
export const viewName = computed(
  () => ofAddress(made.value)?.view ?? used.value?.name ?? view.value,
);

export const isEditing = signal(false);
/** Number of the region whose corners are shown. */
export const chosen = signal<number | null>(null);
/** Corners of a region that is being drawn. */
export const draft = signal<readonly Share[] | null>(null);
/** Where the pointer is while one is drawn. */
export const hovered = signal<Share | null>(null);

let settling: ReturnType<typeof setTimeout> | undefined;
effect(() => {
  const next = made.value;
  clearTimeout(settling);
  if (next === null) {
    settled.value = null;
    return;
  }
  // Regions that the service would refuse are not sent: the answer before stays.
  if (faults.value.length > 0) return;
  settling = setTimeout(() => (settled.value = next), SETTLED_MS);
});

export function change(to: (regions: readonly Region[]) => readonly Region[]): void {
  const regions = to(shown.peek());
  const name = viewName.peek();
  // An empty list asks for no view where one would fit.
  const isNone = regions.length === 0 && name === '';
  made.value = isNone ? null : { address: view.peek(), view: name, regions };
}

/** Regions of a view that is gone. */
export function keepDrawn(regions: readonly Region[]): void {
  used.value = null;
  made.value = { address: view.peek(), view: '', regions };
}

/** Drops the drawn regions; the regions of the view come back. */
export function discard(): void {
  made.value = null;
  chosen.value = null;
  draft.value = null;
}

export function startDraft(): void {
  chosen.value = null;
  draft.value = [];
}

let wanted: Pick<View, 'name' | 'version'> | null = null;

/** An answer has the name and version of the view only. */
export function showUsed(named: DetectResponse['view'] | null = null): void {
  wanted = named;
  const before = used.peek();
  if (named?.name === before?.name && named?.version === before?.version) return;
  if (named === null) {
    used.value = null;
    return;
  }
  service.view(named.name, named.version).then(
    (found) => {
      if (wanted === named) used.value = found;
    },
    () => {
      // The counts are shown without the polygons.
      if (wanted === named) used.value = null;
    },
  );
}
