/** The regions that a view shows and asks for: those of a stored view, or drawn ones, which are in the address. */
import { batch, computed, effect, signal } from '@preact/signals';
import type { Region } from '../../api/region-rules.js';
import { jsonList } from '../../base/text-list.js';
import type { DetectResponse, View } from '../../client/records.js';
import { address, setQuery } from '../address/location.js';
import type { PicturePoint } from '../picture/view-window.js';
import { service } from '../session/session.js';
import { drawingFaults } from './drawn-regions.js';

/** Regions are asked for this long after their last change, because a dragged corner changes them many times. */
const SETTLED_MS = 400;

/** The view of the address; empty: the service looks for one by the path. */
export const view = computed(() => address.value.query.view ?? '');
/** The view whose regions the answer has. */
export const used = signal<Pick<View, 'name' | 'version' | 'regions'> | null>(null);

const drawnText = computed(() => address.value.query.regions ?? '');
/** The drawn regions. Null: the regions of the view are shown. */
export const drawn = computed(() => readRegions(drawnText.value));
export const shownRegions = computed(() => drawn.value ?? used.value?.regions ?? []);
export const faults = computed(() => drawingFaults(drawn.value ?? []));
/** The drawn regions as requests have them. Null: there are none, and the view counts. */
export const asked = signal(drawn.peek());
/** The name of the view that is shown or was changed. */
export const viewName = computed(() => view.value || (used.value?.name ?? ''));

export const isEditing = signal(false);
/** Index of the region whose corners are shown. */
export const chosenIndex = signal<number | null>(null);
/** Corners of a region that is being drawn. */
export const draftCorners = signal<readonly PicturePoint[] | null>(null);
/** The point under the pointer while a region is drawn. */
export const hoveredPoint = signal<PicturePoint | null>(null);

const isChanging = signal(false);
let settling: ReturnType<typeof setTimeout> | undefined;
effect(() => {
  // Regions that the service would refuse are not sent: the answer before stays.
  if (!isChanging.value && faults.value.length === 0) asked.value = drawn.value;
});

export function changeRegions(to: (regions: readonly Region[]) => readonly Region[]): void {
  const regions = to(shownRegions.peek());
  const name = viewName.peek();
  isChanging.value = true;
  clearTimeout(settling);
  settling = setTimeout(() => (isChanging.value = false), SETTLED_MS);
  // An empty list is drawn regions too: it keeps the service from using those of a view.
  const isNone = regions.length === 0 && name === '' && used.peek() === null;
  setQuery({ regions: isNone ? '' : JSON.stringify(regions), view: name });
}

/** Shows the regions of a deleted view as drawn ones. */
export function keepDrawn(regions: readonly Region[]): void {
  used.value = null;
  setQuery({ regions: JSON.stringify(regions), view: '' });
}

/** Drops the drawn regions; the regions of the view come back. */
export function discard(): void {
  showView(view.peek());
}

export function showView(name: string): void {
  batch(() => {
    isChanging.value = false;
    chosenIndex.value = null;
    draftCorners.value = null;
    setQuery({ regions: '', view: name });
  });
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

/** People type addresses: null where the text is no list of regions. */
function readRegions(text: string): readonly Region[] | null {
  const list = jsonList(text);
  return list?.every(isRegion) === true ? list : null;
}

function isRegion(value: unknown): value is Region {
  const { name, polygon = [] } = Object(value) as Partial<Region>;
  const isCorner = (corner: unknown) => Array.isArray(corner) && corner.every(Number.isFinite);
  return typeof name === 'string' && polygon.length > 0 && polygon.every(isCorner);
}
