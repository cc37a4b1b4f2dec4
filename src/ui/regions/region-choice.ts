/** The regions that the detect view shows and asks for: the regions of a stored view, or regions drawn on this page. */
import { computed, effect, signal } from '@preact/signals';
import type { Region } from '../../api/region-rules.js';
import type { DetectResponse, View } from '../../client/records.js';
import { address } from '../address/location.js';
import type { PicturePoint } from '../picture/view-window.js';
import { service } from '../session/session.js';
import { drawingFaults } from './drawn-regions.js';

/** Regions are asked for this long after their last change, because a dragged corner changes them many times. */
const SETTLED_MS = 400;

interface Drawn {
  /** The view that the address named when they were drawn. They are shown only while it names this one. */
  address: string;
  /** The view that they were made from; empty: none. */
  view: string;
  regions: readonly Region[];
}

/** The view of the address; empty: the service looks for one by the path. */
export const view = computed(() => address.value.query.view ?? '');
/** The view whose regions the answer has. */
export const used = signal<Pick<View, 'name' | 'version' | 'regions'> | null>(null);

const made = signal<Drawn | null>(null);
const settled = signal<Drawn | null>(null);
const ofAddress = (drawn: Drawn | null) => (drawn?.address === view.value ? drawn : null);

/** The drawn regions. Null: the regions of the view are shown. */
export const drawn = computed(() => ofAddress(made.value)?.regions ?? null);
export const shownRegions = computed(() => drawn.value ?? used.value?.regions ?? []);
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
/** Index of the region whose corners are shown. */
export const chosenIndex = signal<number | null>(null);
/** Corners of a region that is being drawn. */
export const draftCorners = signal<readonly PicturePoint[] | null>(null);
/** The point under the pointer while a region is drawn. */
export const hoveredPoint = signal<PicturePoint | null>(null);

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

export function changeRegions(to: (regions: readonly Region[]) => readonly Region[]): void {
  const regions = to(shownRegions.peek());
  const name = viewName.peek();
  // An empty list is drawn regions too: it keeps the service from looking for a view by the path.
  const isNone = regions.length === 0 && name === '';
  made.value = isNone ? null : { address: view.peek(), view: name, regions };
}

/** Shows the regions of a deleted view as drawn ones. */
export function keepDrawn(regions: readonly Region[]): void {
  used.value = null;
  made.value = { address: view.peek(), view: '', regions };
}

/** Drops the drawn regions; the regions of the view come back. */
export function discard(): void {
  made.value = null;
  chosenIndex.value = null;
  draftCorners.value = null;
}

export function startDraft(): void {
  chosenIndex.value = null;
  draftCorners.value = [];
}

let wanted: Pick<View, 'name' | 'version'> | null = null;

/** Fetches the regions of the view that an answer names: the answer has only its name and version. */
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
