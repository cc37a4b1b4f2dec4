/** Labels that people set on a job: its tags, its notes, and how long it is kept. */
import { useSignal } from '@preact/signals';
import type { TargetedEvent } from 'preact';
import { LABELS, type Keep } from '../../api/job-labels.js';
import type { JobStatus } from '../../client/records.js';
import { hashOf } from '../address/address.js';
import { Button } from '../parts/button.js';
import { Foreign } from '../parts/foreign.js';
import { Icon } from '../parts/icon.js';
import { InPlace } from '../parts/in-place.js';
import { SOON_S } from '../jobs/job-table.js';
import { duration, minute, plural } from '../text/format.js';
import type { JobRecord } from './job-record.js';

interface LabelsProps {
  job: JobStatus;
  record: JobRecord;
  /** Unix seconds. */
  now: number;
}

export function JobLabels({ job, record, now }: LabelsProps) {
  return (
    <div class="job-labels">
      <Tags job={job} record={record} />
      <Kept job={job} record={record} now={now} />
      <InPlace
        label="Notes"
        text={job.notes ?? ''}
        most={LABELS.notes.most}
        isLong
        begin={job.notes === null ? 'Add notes' : undefined}
        onSave={(notes) => record.edit({ notes })}
      >
        {job.notes !== null && (
          <div class="notes">
            {job.notes.split(/\r?\n/).map((line, index) => (
              <p key={index}>
                <Foreign text={line.replaceAll('\t', '    ')} />
              </p>
            ))}
          </div>
        )}
      </InPlace>
    </div>
  );
}

function Tags({ job: { tags }, record }: Omit<LabelsProps, 'now'>) {
  const add = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    const tag = (new FormData(form).get('tag') as string).trim();
    if (tag !== '' && (await record.edit({ tags: [...tags, tag] }))) form.reset();
  };
  return (
    <ul class="tags" aria-label="Tags">
      {tags.map((tag) => (
        <li key={tag} class="tag">
          <a href={hashOf({ screen: 'jobs' }, { tag })} title="Jobs with this tag">
            <Foreign text={tag} />
          </a>
          <Button
            icon="close"
            class="quiet icon-button"
            name={`Remove the tag ${tag}`}
            onClick={() => void record.edit({ tags: tags.filter((each) => each !== tag) })}
          />
        </li>
      ))}
      {tags.length < LABELS.tags.most && (
        <li>
          <form class="new-tag" onSubmit={(event) => void add(event)}>
            <Icon name="tag" />
            <input
              name="tag"
              aria-label="Add a tag"
              placeholder="Add a tag"
              maxLength={LABELS.tags.longest}
              autocomplete="off"
              spellcheck={false}
            />
          </form>
        </li>
      )}
    </ul>
  );
}

const KEEP: readonly [Keep, string][] = [
  [true, 'Until it is deleted'],
  [30, '30 days from now'],
  [365, '1 year from now'],
  [false, 'No longer than usual'],
];

function Kept({ job, record, now }: LabelsProps) {
  const isOpen = useSignal(false);
  const left = job.expires_at === null ? Infinity : job.expires_at - now;
  const choose = async (keep: Keep): Promise<void> => {
    if (await record.edit({ keep })) isOpen.value = false;
  };
  return (
    <div class={left < SOON_S ? 'keep note' : 'keep'}>
      <span role="status">
        {left < SOON_S && `${removalText(left)} `}
        {keptText(job, now)}
      </span>
      <Button
        icon="clock"
        class="quiet"
        aria-expanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        Keep
      </Button>
      {isOpen.value && (
        <div class="keep-choices" role="group" aria-label="Keep the results">
          {KEEP.filter(([keep]) => keep !== job.keep).map(([keep, text]) => (
            <Button key={text} onClick={() => void choose(keep)}>
              {text}
            </Button>
          ))}
        </div>
      )}
    </div>
  );
}

function removalText(left: number): string {
  return left > 0
    ? `The results are removed in ${duration(Math.max(60, left)).replace(/ \d+ s$/, '')}.`
    : 'The results are removed at any moment.';
}

function keptText({ keep, expires_at }: JobStatus, now: number): string {
  if (keep === true) return 'Kept until it is deleted';
  if (expires_at !== null) return `Kept until ${minute(expires_at, now)}`;
  return keep === false ? 'Kept for the usual time' : `Kept for ${plural(keep, 'day')}`;
}
