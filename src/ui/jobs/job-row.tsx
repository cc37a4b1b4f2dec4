/** A job of the list: its state, what it has found, its progress, its pace and its age. */
import type { JobStatus } from '../../client/records.js';
import { hashOf } from '../address/address.js';
import { address } from '../address/location.js';
import { paceText } from '../job/pace.js';
import { Foreign } from '../parts/foreign.js';
import { Icon } from '../parts/icon.js';
import { Swatch } from '../picture/class-chips.js';
import { ago, clock, duration, grouped, minute, percent, plural, visible } from '../text/format.js';
import { rowOf } from './job-list.js';
import { readSearch, searchQuery } from './job-search.js';
import { hasEnded, shownState, SOON_S } from './job-table.js';
import { StatePill } from './state-pill.js';

/** More classes than this are a number. */
const CLASSES_SHOWN = 3;

/** now: Unix seconds. */
export function JobRow({ jobId, now }: { jobId: string; now: number }) {
  const job = rowOf(jobId)?.value;
  if (job === undefined) return null;
  return (
    <li>
      <div class="job-row">
        <StatePill state={shownState(job)} />
        <div class="job-name">
          {/* The link covers the row; what can be pressed beside it lies above. */}
          <a class="job-link" href={hashOf({ screen: 'job', jobId })}>
            <Foreign text={job.title} />
          </a>
          <p class="fine">
            {job.job_type} · <Foreign text={job.model_name} />{' '}
            <span class="unbroken">from {percent(job.confidence_threshold)}</span>
            <KeptMark job={job} now={now} />
            <Tags tags={job.tags} />
          </p>
        </div>
        <Found job={job} />
        <Progress job={job} now={now} />
        <span class="job-age fine" title={clock(job.submitted_at, now)}>
          {ago(now - job.submitted_at)}
          {tookText(job)}
        </span>
        <Icon name="right" />
      </div>
    </li>
  );
}

function KeptMark({ job: { kept, expires_at }, now }: { job: JobStatus; now: number }) {
  if (expires_at !== null && expires_at - now < SOON_S) {
    return (
      <span class="kept soon" title={`Then its results are removed: ${clock(expires_at, now)}`}>
        {/* Within a day the time is enough. */}
        until {minute(expires_at, expires_at)}
      </span>
    );
  }
  return kept ? <span class="kept">kept</span> : null;
}

function Tags({ tags }: { tags: readonly string[] }) {
  const search = readSearch(address.value.query);
  return (
    <>
      {tags.map((tag) => (
        <a
          key={tag}
          class="tag"
          href={hashOf({ screen: 'jobs' }, searchQuery({ ...search, tag }))}
          title={`Jobs with the tag ${visible(tag)}`}
        >
          {visible(tag)}
        </a>
      ))}
    </>
  );
}

/** The classes with the most boxes. */
function Found({ job: { class_counts, total_count } }: { job: JobStatus }) {
  const classes = Object.entries(class_counts);
  const more = classes.length - CLASSES_SHOWN;
  return (
    <ul class="job-found" aria-label={plural(total_count, 'box', 'boxes')}>
      {classes.slice(0, CLASSES_SHOWN).map(([name, boxes]) => (
        <li key={name}>
          <Swatch name={name} />
          <span class="class-name">{visible(name)}</span>
          <b>{grouped(boxes)}</b>
        </li>
      ))}
      {more > 0 && <li class="fine">+{more}</li>}
    </ul>
  );
}

function Progress({ job, now }: { job: JobStatus; now: number }) {
  const state = shownState(job);
  const isOpen = !hasEnded(job);
  const isPart = isOpen || state === 'cancelled';
  const pace =
    job.status === 'pending' ? 'waiting' : paceText(job, isOpen ? Date.now() / 1000 : now);
  return (
    <div class="job-bar">
      <progress max="1" value={job.progress} class={state} aria-label={percent(job.progress)} />
      <span>
        {isPart && `${grouped(job.finished_images)} / `}
        {plural(job.image_count, 'image')}
        {job.failed_images > 0 && <span class="bad">, {grouped(job.failed_images)} failed</span>}
        {pace !== '' && <span class={isOpen ? 'fine' : 'fine past-pace'}> · {pace}</span>}
      </span>
    </div>
  );
}

function tookText({ started_at, completed_at }: JobStatus): string {
  if (started_at === null || completed_at === null) return '';
  return `, took ${duration(completed_at - started_at)}`;
}
