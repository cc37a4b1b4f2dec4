/** The same picture with another model or setting: which boxes come, go and change. */
import { signal, useComputed } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { DetectResponse } from '../../client/records.js';
import { address, setQuery } from '../address/location.js';
import { Problem } from '../parts/problem.js';
import { shownBoxes } from '../picture/shown-boxes.js';
import { compareBoxes, countChanges, type Change } from './box-changes.js';
import {
  askDetection,
  boxes,
  chosenModel,
  hidden,
  offered,
  threshold,
  type Detected,
} from './detection.js';

const UNMERGED = 'merge_classes=false';
const TEXTS: Record<Change, string> = {
  gained: 'gained',
  lost: 'lost',
  changed: 'changed',
  same: 'the same',
};

const other = signal<{ of: string; answer: DetectResponse } | null>(null);
const fault = signal<unknown>(null);

/** What it is compared with, in the address: a model, or a setting. */
const chosen = (): string => address.value.query.with ?? '';

/** The boxes of both answers, each with what became of it; null while nothing is compared. */
export function useComparison({ source, answer }: Detected) {
  const wanted = chosen();
  useEffect(() => {
    fault.value = null;
    if (wanted === '') return;
    const stop = new AbortController();
    const fields = wanted === UNMERGED ? { mergeClasses: false } : { model: wanted };
    askDetection(source, fields, stop.signal).then(
      (found) => (other.value = { of: wanted, answer: found }),
      (error: unknown) => {
        if (!stop.signal.aborted) fault.value = error;
      },
    );
    return () => {
      stop.abort();
      other.value = null;
    };
  }, [answer, wanted]);
  return useComputed(() => {
    if (other.value?.of !== chosen()) return null;
    const choice = { threshold: threshold.value, hidden: hidden.value };
    return compareBoxes(boxes.value, shownBoxes(other.value.answer.detections, choice));
  });
}

export function ComparisonChoice({ compared }: { compared: ReturnType<typeof useComparison> }) {
  const counts = compared.value === null ? null : countChanges(compared.value);
  return (
    <section class="comparison" aria-label="Comparison">
      <label class="row">
        <span class="panel-title">Compare with</span>
        <select
          value={chosen()}
          onChange={({ currentTarget }) => setQuery({ with: currentTarget.value })}
        >
          <option value="">nothing</option>
          {offered.value
            .filter(({ name }) => name !== chosenModel.value?.name)
            .map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          <option value={UNMERGED}>boxes of all classes kept</option>
        </select>
      </label>
      {fault.value !== null && <Problem error={fault.value} />}
      {counts !== null && (
        <ul class="changes" role="status">
          {(Object.keys(TEXTS) as Change[]).map((change) => (
            <li key={change} class={change}>
              <b>{counts[change]}</b> {TEXTS[change]}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
