/** A job in figures; each of them is also a filter of the images. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { JobStatus, JobSummary } from '../../client/records.js';
import { classColour } from '../../overlay/class-colour.js';
import { setQuery } from '../address/location.js';
import { Button } from '../parts/button.js';
import { Foreign } from '../parts/foreign.js';
import { Icon } from '../parts/icon.js';
import { Skeleton } from '../parts/skeleton.js';
import { Swatch } from '../picture/class-chips.js';
import { grouped, plural } from '../text/format.js';
import { ConfidenceHistogram } from './confidence-histogram.js';
import {
  isFiltered,
  NO_FILTER,
  withClass,
  type ImageFilter,
  type Outcome,
} from './image-filter.js';

const OUTCOME_NAMES: Record<Outcome, string> = {
  found: 'With boxes',
  empty: 'Nothing found',
  failed: 'Failed',
  not_run: 'Not run',
  pending: 'Waiting',
};
/** More classes than this are behind a button: a model may have hundreds. */
const CLASSES_SHOWN = 8;

interface Counted {
  summary: JobSummary;
  filter: ImageFilter;
}

interface JobFilterPanelProps {
  job: JobStatus;
  summary: JobSummary | null;
  filter: ImageFilter;
}

export function JobFilterPanel({ job, summary, filter }: JobFilterPanelProps) {
  // Narrow screens fold all but the first block.
  const isOpen = useSignal(filter.classes.length > 0 || filter.below !== null);
  if (summary === null) {
    return (
      <aside class="figures">
        <Skeleton label="Counting the boxes" lines={5} />
      </aside>
    );
  }
  return (
    <aside class={isOpen.value ? 'figures open' : 'figures'} aria-label="Figures and filters">
      <Block title="Images">
        <OutcomeTabs job={job} summary={summary} filter={filter} />
      </Block>
      <Button
        class="figures-more"
        aria-expanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        Classes and confidence <Icon name="down" />
      </Button>
      <Block title={`${plural(summary.total_count, 'box', 'boxes')} by class`}>
        <ClassBars summary={summary} filter={filter} />
      </Block>
      {summary.total_count > 0 && (
        <Block title="Confidence">
          <ConfidenceHistogram summary={summary} filter={filter} />
        </Block>
      )}
      {isFiltered(filter) && (
        <Button icon="close" onClick={() => setQuery(NO_FILTER)}>
          Clear the filters
        </Button>
      )}
    </aside>
  );
}

function Block({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="figure-block">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function OutcomeTabs({ job, summary, filter }: Counted & { job: JobStatus }) {
  const choices: [Outcome | null, string, number][] = [
    [null, 'All', job.image_count],
    ...(Object.keys(OUTCOME_NAMES) as Outcome[]).map((outcome): [Outcome, string, number] => [
      outcome,
      OUTCOME_NAMES[outcome],
      summary.images[outcome],
    ]),
  ];
  return (
    <ul class="outcomes">
      {choices
        .filter(([outcome, , count]) => count > 0 || outcome === filter.outcome)
        .map(([outcome, name, count]) => (
          <li key={name}>
            <Button
              class={outcome === 'failed' ? 'outcome has-failed' : 'outcome'}
              aria-pressed={filter.outcome === outcome}
              onClick={() => setQuery({ outcome: outcome ?? '' })}
            >
              <span>{name}</span>
              <b>{grouped(count)}</b>
            </Button>
          </li>
        ))}
    </ul>
  );
}

function ClassBars({ summary, filter }: Counted) {
  const most = Math.max(1, ...summary.classes.map(({ boxes }) => boxes));
  const first = summary.classes.slice(0, CLASSES_SHOWN);
  const rest = summary.classes.slice(CLASSES_SHOWN);
  if (first.length === 0) return <p class="fine">No boxes so far.</p>;
  const bars = (classes: JobSummary['classes']) => (
    <ul class="class-bars">
      {classes.map(({ class: name, boxes }) => (
        <li key={name}>
          <Button
            class="class-bar"
            aria-pressed={filter.classes.includes(name)}
            onClick={() => setQuery(withClass(filter, name))}
          >
            <Swatch name={name} />
            <span class="class-name">
              <Foreign text={name} />
            </span>
            <b>{grouped(boxes)}</b>
            <svg class="bar-line" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
              <rect width={(100 * boxes) / most} height="4" fill={classColour(name).colour} />
            </svg>
          </Button>
        </li>
      ))}
    </ul>
  );
  return (
    <>
      {bars(first)}
      {rest.length > 0 && (
        <details>
          <summary>{plural(rest.length, 'more class', 'more classes')}</summary>
          {bars(rest)}
        </details>
      )}
    </>
  );
}
