/** Images added up by folder and hour: those of a job, or of all jobs of a watch or a tag. */
import type { Counted } from '../store/count-reads.js';
import type { CountScope } from '../store/count-rows.js';
import { CountSum } from '../store/count-sum.js';
import type { ServiceStore } from '../store/service-store.js';
import type { QuestionViews } from './question-views.js';

export type CountSums = Counted & { total: CountSum };

/** Counts by the question of each job, or by another one. */
export async function countSums(
  store: Pick<ServiceStore, 'countSums'>,
  scope: CountScope,
  views: QuestionViews | null,
): Promise<CountSums> {
  const counted =
    views === null
      ? await store.countSums(scope, null)
      : await views.answer((asked) => store.countSums(scope, asked));
  if ('viewNeeded' in counted) throw new Error('Only a question needs a view.');
  const total = new CountSum();
  for (const { sum } of counted.sums) total.merge(sum);
  return { ...counted, total };
}
