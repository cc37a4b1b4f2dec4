/** The same picture with another model or setting: which boxes come, go and change. */
import { signal, useComputed } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { compareBoxes, countChanges } from '../../boxes/changes.js';
import type { DetectResponse } from '../../client/records.js';
import { address, setQuery } from '../address/location.js';
import { Problem } from '../parts/problem.js';
import { ChangeCounts, drawnChanges } from '../picture/compared-boxes.js';
import { shownBoxes } from '../picture/shown-boxes.js';
import {
  askDetection,
  boxes,
  chosenModel,
  hidden,
  offered,
  thresholds,
  type Detected,
} from './detection.js';
import { offersFor, settingOf } from './other-settings.js';

const other = signal<{ of: string; answer: DetectResponse } | null>(null);
const fault = signal<unknown>(null);

/** The setting that the answer is compared with, in the address: a field of the request and its value. */
const chosen = (): string => address.value.query.with ?? '';

/** The boxes of both answers, each with what became of it; null while nothing is compared. */
export function useComparison({ source, choice, answer }: Detected) {
  const wanted = chosen();
  useEffect(() => {
    fault.value = null;
    const setting = settingOf(wanted);
    if (setting === null) return;
    const stop = new AbortController();
    askDetection(source, { ...choice, ...setting }, stop.signal).then(
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
    const filter = { ...thresholds.value, hidden: hidden.value };
    const others = shownBoxes(other.value.answer.detections, filter);
    return drawnChanges(compareBoxes(boxes.value, others));
  });
}

interface ChoiceProps {
  detected: Detected;
  compared: ReturnType<typeof useComparison>;
}

export function ComparisonChoice({ detected: { choice }, compared }: ChoiceProps) {
  const shown = { ...choice, model: chosenModel.value?.name ?? choice.model };
  const names = offered.value.map(({ name }) => name);
  const offers = offersFor(shown, names, chosen());
  const groups = [...new Set(offers.map(({ group }) => group))];
  return (
    <section class="comparison" aria-label="Comparison">
      <label class="row">
        <span class="panel-title">Compare with</span>
        <select
          value={chosen()}
          onChange={({ currentTarget }) => setQuery({ with: currentTarget.value })}
        >
          <option value="">nothing</option>
          {groups.map((name) => (
            <optgroup key={name} label={name}>
              {offers
                .filter(({ group }) => group === name)
                .map(({ value, text }) => (
                  <option key={value} value={value}>
                    {text}
                  </option>
                ))}
            </optgroup>
          ))}
        </select>
      </label>
      {fault.value !== null && <Problem error={fault.value} />}
      <div role="status">
        {compared.value !== null && <ChangeCounts counts={countChanges(compared.value)} />}
      </div>
    </section>
  );
}
