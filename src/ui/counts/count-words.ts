/** Counts in words: what was found, how it differs, and what the numbers leave out. */
import { exactPercent, grouped, plural, significant } from '../text/format.js';
import type { Counts } from '../../client/records.js';
import type { CountGroup, CountSum, ShownCounts } from './counts-request.js';
import { isOfStoredJobs } from './counts-choice.js';

export const boxes = (count: number): string => plural(count, 'box', 'boxes');

/** `3 images, 1 without boxes, 1 failed` */
export function totalText({
  images,
  empty_images: empty,
  failed_images: failed,
}: CountSum): string {
  return [
    plural(images, 'image'),
    ...(empty > 0 ? [`${grouped(empty)} without boxes`] : []),
    ...(failed > 0 ? [`${grouped(failed)} failed`] : []),
  ].join(', ');
}

/** `12 more (+20 %) than 60` */
export function differenceText(count: number, before: number): string {
  const change = count - before;
  if (change === 0) return `as many as before: ${grouped(before)}`;
  const share =
    before === 0 ? '' : ` (${change > 0 ? '+' : '−'}${exactPercent(Math.abs(change) / before)})`;
  return `${grouped(Math.abs(change))} ${change > 0 ? 'more' : 'fewer'}${share} than ${grouped(before)}`;
}

/** Boxes per processed image; null without one. */
export function perImage(
  { images, failed_images: failed }: CountSum,
  count: number,
): string | null {
  const processed = images - failed;
  return processed > 0 ? significant(count / processed) : null;
}

/** Sentences about the images that the numbers of a range do not have. */
export function leftOutTexts(counts: Counts, { choice, everything }: ShownCounts): string[] {
  const untimed = everything?.total.time_sources.none ?? 0;
  return [
    sentence(counts.pending_images, 'not ended yet: not counted.'),
    sentence(counts.not_run_images, 'that had no turn before the job was cancelled: not counted.'),
    sentence(
      counts.removed_images,
      isOfStoredJobs(choice)
        ? 'whose results are removed: not counted, because only the counts by hour as their jobs asked are kept.'
        : 'whose results are removed: counted as their jobs asked.',
    ),
    sentence(
      counts.unanswered_images,
      'whose boxes cannot answer this question: not counted. They need a new run.',
    ),
    sentence(untimed, 'without a time: in no range. All times count them too.'),
  ].flatMap((text) => text ?? []);
}

const sentence = (images: number, text: string): string | null =>
  images > 0 ? `${plural(images, 'image')} ${text}` : null;

const DAY_LENGTH = '2025-11-26'.length;

/** `2025-11-26 14:00:00 to 14:00:50`, with the day of its end where it is another one. */
export const eventTime = ({ group: first, last_time: last }: CountGroup): string =>
  first === null ? 'No time' : spanText(first, last);

/** Wall times; without a last one, or with the same, only the first is named. */
export function spanText(first: string, last: string | null | undefined): string {
  const begin = first.replace('T', ' ');
  if (last === null || last === undefined || last === first) return begin;
  const isSameDay = last.slice(0, DAY_LENGTH) === first.slice(0, DAY_LENGTH);
  return `${begin} to ${isSameDay ? last.slice(DAY_LENGTH + 1) : last.replace('T', ' ')}`;
}
