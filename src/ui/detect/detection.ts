/** The detection that the view shows, and what people choose for the next one. It outlives a change of views. */
import { batch, computed, effect, signal } from '@preact/signals';
import type { DetectResponse, Model } from '../../client/records.js';
import { address, setQuery } from '../address/location.js';
import { ALL_CLASSES } from '../../api/options.js';
import { usableModels } from '../models/offered-classes.js';
import { models } from '../models/models.js';
import { boxFilter } from '../picture/box-filter.js';
import { service } from '../session/session.js';
import { ASKED_CONFIDENCE, detectFields, type Source } from './detect-request.js';

export interface Detected {
  source: Source;
  answer: DetectResponse;
  /** Address of the blob of a picture that was sent; null for one of the service. */
  url: string | null;
}

/** Empty: the default one. */
export const model = signal('');
export const wantsAllClasses = signal(false);
export const detected = signal<Detected | null>(null);
/** What is being detected, or was refused. */
export const asked = signal<Source | null>(null);
export const isBusy = signal(false);
export const fault = signal<unknown>(null);

export const offered = computed(() => usableModels(models.value ?? []));
export const chosenModel = computed(
  (): Model | undefined =>
    offered.value.find(({ name }) => name === model.value) ??
    offered.value.find(({ is_default }) => is_default),
);

/** With which the model is detected where a request names no other. */
const ownThreshold = computed(() => chosenModel.value?.confidence_threshold ?? 0.5);
const askedThreshold = computed(() => Math.min(ASKED_CONFIDENCE, ownThreshold.value));

export const detections = computed(() => detected.value?.answer.detections ?? []);
export const filter = boxFilter(detections, ownThreshold.peek());
export const { boxes, counts, hidden, threshold, toggleClass } = filter;
/** The service cut the list at the most boxes: nothing is known of less confident ones. */
export const floor = computed(() => {
  const { answer } = detected.value ?? {};
  return answer?.truncated === true
    ? (answer.detections.at(-1)?.confidence ?? 0)
    : askedThreshold.value;
});

// The slider begins anew with each model, unless the address names a threshold.
effect(() => {
  const first = ownThreshold.value;
  const { place, query } = address.peek();
  if (place.view !== 'detect' || !isPercent(query.min)) threshold.value = first;
});

let stop = new AbortController();

/** A newer call takes the place of one under way. The old result stays until the new one comes. */
export async function detect(source: Source): Promise<void> {
  stop.abort();
  stop = new AbortController();
  const { signal: stopped } = stop;
  batch(() => {
    asked.value = source;
    isBusy.value = true;
    fault.value = null;
  });
  try {
    const fields = detectFields({
      model: model.peek(),
      classes: wantsAllClasses.peek() ? [ALL_CLASSES] : [],
      threshold: askedThreshold.peek(),
    });
    const answer =
      source.kind === 'path'
        ? await service.detect({ image_path: source.path, ...fields }, { signal: stopped })
        : await service.detectPicture(source.file, fields, { signal: stopped });
    if (!stopped.aborted) show(source, answer);
  } catch (error) {
    if (!stopped.aborted) fault.value = error;
  } finally {
    if (!stopped.aborted) isBusy.value = false;
  }
}

function show(source: Source, answer: DetectResponse): void {
  const before = detected.peek()?.url ?? null;
  batch(() => {
    const url = source.kind === 'file' ? URL.createObjectURL(source.file) : null;
    detected.value = { source, answer, url };
    hidden.value = new Set();
  });
  if (before !== null) URL.revokeObjectURL(before);
  setQuery({ path: source.kind === 'path' ? source.path : '' });
}

export function setThreshold(value: number): void {
  threshold.value = Math.min(1, Math.max(floor.peek(), Math.round(value * 100) / 100));
}

function isPercent(text = ''): boolean {
  return /^\d{1,3}$/.test(text);
}

/** An address can name a picture, a model and a threshold. Call while the view is shown. */
export function followAddress(): () => void {
  return effect(() => {
    const { place, query } = address.value;
    if (place.view !== 'detect') return;
    const { path = '', model: name, min = '' } = query;
    if (name !== undefined) model.value = name;
    if (isPercent(min)) threshold.value = Math.min(1, Number(min) / 100);
    const source = asked.peek();
    const isShown = source?.kind === 'path' && source.path === path;
    if (path !== '' && !isShown) void detect({ kind: 'path', path });
  });
}
