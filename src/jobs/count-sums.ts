/** Images added up by folder and hour or as events: those of a job, or of all jobs of a watch or a tag. */
import type { Asked } from '../store/asked-boxes.js';
import type { ViewNeeded } from '../store/count-reads.js';
import type { PictureRule } from '../store/cameras/camera-pictures.js';
import type { CountedEvents, EventRule } from '../store/cameras/event-rows.js';
import type { FoundPlaces } from '../store/cameras/place-rows.js';
import type { Counted } from '../store/count-tally.js';
import type { CountScope } from '../store/count-rows.js';
import { CountSum } from '../store/count-sum.js';
import type { ServiceStore } from '../store/service-store.js';
import type { QuestionViews } from './question-views.js';

export type CountSums = Counted & { total: CountSum };

/** Counts by the question of each job, or by another one. Without a rule all boxes are counted, dismissed ones too. */
export async function countSums(
  store: Pick<ServiceStore, 'countSums' | 'countUndismissed' | 'countStanding'>,
  scope: CountScope,
  views: QuestionViews | null,
  rule: PictureRule | null = null,
): Promise<CountSums> {
  const counted = await answer((asked) => {
    if (rule === null) return store.countSums(scope, asked);
    if (asked === null || rule.static === 'include') return store.countUndismissed(scope, asked);
    return store.countStanding(scope, asked, rule);
  }, views);
  const total = new CountSum();
  for (const { sum } of counted.sums) total.merge(sum);
  return { ...counted, total };
}

/** Events by the question of each job, or by another one. */
export function countEvents(
  store: Pick<ServiceStore, 'countEvents'>,
  scope: CountScope,
  rule: EventRule,
  views: QuestionViews | null,
): Promise<CountedEvents> {
  return answer((asked) => store.countEvents(scope, asked, rule), views);
}

/** Places in which vehicles stood, by the question of each job or by another one. */
export function findPlaces(
  store: Pick<ServiceStore, 'findPlaces'>,
  scope: CountScope,
  rule: PictureRule,
  views: QuestionViews,
): Promise<FoundPlaces> {
  return views.answer((asked) => store.findPlaces(scope, asked, rule));
}

async function answer<T extends object>(
  ask: (asked: Asked | null) => Promise<T | { viewNeeded: ViewNeeded }>,
  views: QuestionViews | null,
): Promise<T> {
  if (views !== null) return views.answer(ask);
  const counted = await ask(null);
  if ('viewNeeded' in counted) throw new Error('Only a question needs a view.');
  return counted;
}
