/** A job of the list: its state, its progress, its pace and its age. */
import type { JobStatus } from '../../client/records.js';
import { hashOf } from '../address/address.js';
import { paceText } from '../job/pace.js';
import { Foreign } from '../parts/foreign.js';
import { Icon } from '../parts/icon.js';
import { ago, clock, duration, grouped, percent, plural } from '../text/format.js';
import { rowOf } from './job-list.js';
import { hasEnded } from './job-table.js';
import { StatePill } from './state-pill.js';

/** now: Unix seconds. */
export function JobRow({ jobId, now }: { jobId: string; now: number }) {
  const job = rowOf(jobId)?.value;
  if (job === undefined) return null;
  const isOpen = !hasEnded(job);
  return (
    <li>
      <a class="job-row" href={hashOf({ view: 'job', jobId })}>
        <StatePill status={job.status} />
        <span class="job-name">
          <b>
            <Foreign text={job.title} />
          </b>
          <span class="fine">
            {job.job_type} · …{jobId.slice(-6)}
          </span>
        </span>
        <span class="job-bar">
          <progress
            max="1"
            value={job.progress}
            class={job.status}
            aria-label={percent(job.progress)}
          />
          <span>
            {isOpen && `${grouped(job.finished_images)} / `}
            {plural(job.image_count, 'image')}
            {job.failed_images > 0 && (
              <span class="bad">, {grouped(job.failed_images)} failed</span>
            )}
          </span>
        </span>
        <span class="job-pace fine">
          {job.status === 'pending' ? 'waiting' : paceText(job, isOpen ? Date.now() / 1000 : now)}
        </span>
        <span class="job-age fine" title={clock(job.submitted_at, now)}>
          {ago(now - job.submitted_at)}
          {tookText(job)}
        </span>
        <Icon name="right" />
      </a>
    </li>
  );
}

function tookText({ started_at, completed_at }: JobStatus): string {
  if (started_at === null || completed_at === null) return '';
  return `, took ${duration(completed_at - started_at)}`;
}
