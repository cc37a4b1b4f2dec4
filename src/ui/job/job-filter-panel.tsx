/** A job in figures: some of them are also filters of the images, and some change what is asked. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { QUESTION_ROWS } from '../../api/question.js';
import type { JobStatus, JobSummary } from '../../client/records.js';
import { address, setQuery } from '../address/location.js';
import { OptionFields } from '../options/option-fields.js';
import { WRITTEN_ROWS } from '../options/written-options.js';
import { Button } from '../parts/button.js';
import { Icon } from '../parts/icon.js';
import { Skeleton } from '../parts/skeleton.js';
import { grouped, plural } from '../text/format.js';
import { ClassList } from './class-list.js';
import { ConfidenceHistogram } from './confidence-histogram.js';
import { isFiltered, NO_FILTER, type ImageFilter, type Outcome } from './image-filter.js';
import { JobRegions } from './job-regions.js';
import type { QuestionChoice } from './question-choice.js';

const OUTCOME_NAMES: Record<Outcome, string> = {
  found: 'With boxes',
  empty: 'Nothing found',
  failed: 'Failed',
  not_run: 'Not run',
  pending: 'Waiting',
};
interface Counted {
  summary: JobSummary;
  filter: ImageFilter;
}

interface JobFilterPanelProps {
  job: JobStatus;
  summary: JobSummary | null;
  filter: ImageFilter;
  choice: QuestionChoice;
}

export function JobFilterPanel({ job, summary, filter, choice }: JobFilterPanelProps) {
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
        Classes, confidence, regions <Icon name="down" />
      </Button>
      <Block title={`${plural(summary.total_count, 'box', 'boxes')} by class`}>
        <ClassList filter={filter} choice={choice} />
      </Block>
      <Block title="Confidence">
        <ConfidenceHistogram summary={summary} filter={filter} choice={choice} />
      </Block>
      <Block title="Regions">
        <JobRegions summary={summary} />
      </Block>
      <MoreOfQuestion />
      {isFiltered(filter) && (
        <Button icon="close" onClick={() => setQuery(NO_FILTER)}>
          Clear the filters
        </Button>
      )}
    </aside>
  );
}

/** The merging has no field: it follows from the classes unless the job names it. */
const MORE_ROWS = WRITTEN_ROWS.filter(
  (row) => QUESTION_ROWS.includes(row) && row.kind !== 'switch',
);

function MoreOfQuestion() {
  const { query } = address.value;
  return (
    <details class="figure-block">
      <summary>Sizes, thresholds by class</summary>
      <div class="option-fields">
        <OptionFields
          rows={MORE_ROWS}
          textOf={(name) => query[name] ?? ''}
          onChange={(name, text) => setQuery({ [name]: text.trim(), box: '' })}
        />
      </div>
    </details>
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
