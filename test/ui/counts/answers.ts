/** Answers of the service with counts, for the tests. */
import type { Counts } from '../../../src/client/records.js';
import type { CountGroup, ShownCounts } from '../../../src/ui/counts/counts-request.js';
import { readChoice } from '../../../src/ui/counts/counts-choice.js';
import type { Query } from '../../../src/ui/address/address.js';
import { hourOf } from '../../../src/ui/counts/wall-hours.js';

type Classes = Record<string, number>;

export function groupOf(group: string | null, classes: Classes, images = 1): CountGroup {
  const detections = Object.values(classes).reduce((sum, boxes) => sum + boxes, 0);
  const empty = detections === 0 ? images : 0;
  return {
    group,
    images,
    failed_images: 0,
    empty_images: empty,
    detections,
    class_counts: classes,
  };
}

export function countsOf(groups: readonly CountGroup[], more: Partial<Counts> = {}): Counts {
  const classes: Classes = {};
  for (const { class_counts: own } of groups) {
    for (const [name, boxes] of Object.entries(own)) classes[name] = (classes[name] ?? 0) + boxes;
  }
  const images = groups.reduce((sum, group) => sum + group.images, 0);
  const total = { ...groupOf(null, classes, images), time_sources: {} };
  return {
    ...{ watch: 'north', tag: null, from: null, to: null, by: 'hour', jobs: 1 },
    ...{ pending_images: 0, not_run_images: 0, removed_images: 0, unanswered_images: 0 },
    total,
    groups: [...groups],
    ...more,
  };
}

export function shownOf(query: Query, counts: Counts, other: Counts | null = null): ShownCounts {
  const choice = readChoice(query, hourOf('2025-11-26T14')!);
  return { choice, counts, other, everything: null };
}
