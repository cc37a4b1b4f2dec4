/** The detection that the view shows, and what people choose for the next one. It outlives a change of views. */
import { batch, computed, effect, signal } from '@preact/signals';
import type { DetectResponse, Model } from '../../client/records.js';
import type { Query } from '../address/address.js';
import { address, goTo, setQuery } from '../address/location.js';
import { byClassKey } from '../../api/class-key.js';
import { countRegions } from '../../boxes/class-counts.js';
import { ALL_CLASSES } from '../../api/options.js';
import { tilesOf } from '../../api/tiles.js';
import { usableModels } from '../models/offered-classes.js';
import { models } from '../models/models.js';
import { boxFilter } from '../picture/box-filter.js';
import { floorOf } from '../picture/shown-boxes.js';
import { asked as askedRegions, showUsed, view } from '../regions/region-choice.js';
import { regionSums } from '../regions/region-sums.js';
import { service } from '../session/session.js';
import { WRITTEN_ROWS, writtenOptions } from '../options/written-options.js';
import {
  ASKED_CONFIDENCE,
  detectFields,
  type DetectChoice,
  type Source,
} from './detect-request.js';

export interface Detected {
  source: Source;
  /** The request of the answer. */
  choice: DetectChoice;
  answer: DetectResponse;
  /** Address of the blob of a picture that was sent; null for one of the service. */
  url: string | null;
}

const ALL = 'all';

/** Empty: the default one. */
export const model = computed(() => address.value.query.model ?? '');
export const wantsAllClasses = computed(() => address.value.query.classes === ALL);
/** Empty: those that a request without classes gets. */
export const askedClasses = computed(() => (wantsAllClasses.value ? [ALL_CLASSES] : []));
/** Further settings of the request, from the address. */
export const written = computed(() => writtenOptions((name) => address.value.query[name]));
export const tiles = computed(() => tilesOf(address.value.query.tiles ?? '') ?? 'off');
export const detected = signal<Detected | null>(null);
/** The picture that is being detected, or that was refused. */
export const asked = signal<Source | null>(null);
export const isBusy = signal(false);
export const fault = signal<unknown>(null);

export const offered = computed(() => usableModels(models.value ?? []));
export const chosenModel = computed(
  (): Model | undefined =>
    offered.value.find(({ name }) => name === model.value) ??
    offered.value.find(({ is_default }) => is_default),
);

/** The threshold of the model, for a request that names no other. */
const ownThreshold = computed(() => chosenModel.value?.confidence_threshold ?? 0.5);
const askedThreshold = computed(() => Math.min(ASKED_CONFIDENCE, ownThreshold.value));

export const detections = computed(() => detected.value?.answer.detections ?? []);
/** The service cut the list at the most boxes: nothing is known of less confident ones. */
const floor = computed(() =>
  detected.value?.answer.truncated === true
    ? Math.max(askedThreshold.value, floorOf(detections.value))
    : askedThreshold.value,
);
const byClass = computed(() => byClassKey(detected.value?.choice.classThresholds ?? {}));
export const filter = boxFilter(detections, { floor, first: ownThreshold, byClass });
export const { boxes, counts, hidden, threshold, thresholds, setThreshold } = filter;

/** How many of the shown boxes lie in each region of the answer. */
export const regionCounts = computed(() => {
  const names = Object.keys(detected.value?.answer.region_counts ?? {});
  return regionSums(countRegions(boxes.value, names));
});

/** The last picture that was sent; an address has its name only. */
let sent: File | null = null;
/** The part of the address that was detected last: the rest of it filters. */
let followed = '';
/** The address of this view when it was left. */
let left: Query = {};

/** The address names the picture then; Back leads to the one before. The same picture is detected again. */
export function detect(source: Source): void {
  if (source.kind === 'file') sent = source.file;
  followed = '';
  const path = source.kind === 'path' ? source.path : '';
  const name = source.kind === 'file' ? source.file.name : '';
  choose({ path, sent: name });
}

/**
 * `model`, empty for the default one, `classes`, `view` or a written option: what is shown is detected again with it.
 */
export function choose(changes: Query): void {
  goTo({ screen: 'detect' }, { ...address.peek().query, ...changes });
}

export const allClasses = (wanted: boolean): Query => ({ classes: wanted ? ALL : '' });

/** Detects what the address names. Call while the view is shown. */
export function followAddress(): () => void {
  if (Object.keys(address.peek().query).length === 0) setQuery(left);
  showUsed(detected.peek()?.answer.view);
  return effect(() => {
    const { route, query } = address.value;
    if (route.screen !== 'detect') return;
    left = query;
    const { path = '', sent: name = '', model: wanted = '', classes = '' } = query;
    const next = JSON.stringify([
      path,
      name,
      wanted,
      classes,
      ...WRITTEN_ROWS.map(({ wireName }) => query[wireName] ?? ''),
      query.view ?? '',
      askedRegions.value,
    ]);
    if (next === followed) return;
    followed = next;
    if (path !== '') void run({ kind: 'path', path });
    else if (sent !== null && sent.name === name) void run({ kind: 'file', file: sent });
    else showNone(name);
  });
}

let stop = new AbortController();

/** A newer call takes the place of one under way. The old result stays until the new one comes. */
async function run(source: Source): Promise<void> {
  stop.abort();
  stop = new AbortController();
  const { signal: stopped } = stop;
  batch(() => {
    asked.value = source;
    isBusy.value = true;
    fault.value = null;
  });
  const choice: DetectChoice = {
    ...written.peek(),
    model: model.peek(),
    classes: askedClasses.peek(),
    threshold: askedThreshold.peek(),
    tiles: tiles.peek(),
    regions: askedRegions.peek(),
    view: view.peek(),
  };
  try {
    const answer = await askDetection(source, choice, stopped);
    if (!stopped.aborted) show(source, choice, answer);
  } catch (error) {
    if (!stopped.aborted) fault.value = error;
  } finally {
    if (!stopped.aborted) isBusy.value = false;
  }
}

export function askDetection(
  source: Source,
  choice: DetectChoice,
  stopped: AbortSignal,
): Promise<DetectResponse> {
  const fields = detectFields(choice);
  return source.kind === 'path'
    ? service.detect({ image_path: source.path, ...fields }, { signal: stopped })
    : service.detectPicture(source.file, fields, { signal: stopped });
}

function show(source: Source, choice: DetectChoice, answer: DetectResponse): void {
  const before = detected.peek()?.url ?? null;
  const url = source.kind === 'file' ? URL.createObjectURL(source.file) : null;
  detected.value = { source, choice, answer, url };
  showUsed(answer.view);
  if (before !== null) URL.revokeObjectURL(before);
}

/** `name`: of a picture that was sent from another tab or machine. */
function showNone(name: string): void {
  stop.abort();
  batch(() => {
    asked.value = null;
    detected.value = null;
    isBusy.value = false;
    fault.value =
      name === ''
        ? null
        : new Error(`The address names ${name}, which was sent by hand. Open it here again.`);
  });
}
