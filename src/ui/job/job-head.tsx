/** The top of a job's page: its name and state, its times, and what can be done with it. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { JobStatus } from '../../client/records.js';
import { hasEnded } from '../jobs/job-table.js';
import { StatePill } from '../jobs/state-pill.js';
import { CopyButton } from '../parts/copy-button.js';
import { Foreign } from '../parts/foreign.js';
import { Icon } from '../parts/icon.js';
import { ago, clock, duration, grouped, percent, plural } from '../text/format.js';
import { JobDownloads } from './job-downloads.js';
import type { JobRecord } from './job-record.js';
import { paceText } from './pace.js';

export function JobHead({ job, record }: { job: JobStatus; record: JobRecord }) {
  const now = useNow(!hasEnded(job));
  const failed = job.failed_images;
  return (
    <header class="job-head">
      <div class="job-name-lines">
        <p class="fine">
          <a href="#/jobs">Jobs</a>
          {job.retry_of !== null && (
            <>
              {' · runs images of '}
              <a href={`#/jobs/${encodeURIComponent(job.retry_of)}`}>{job.retry_of.slice(-8)}</a>
              {' again'}
            </>
          )}
        </p>
        <div class="job-title">
          <StatePill status={job.status} />
          <h1>
            <Foreign text={job.title} />
          </h1>
        </div>
        <p class="fine job-id">
          <code>{job.job_id}</code>
          <CopyButton text={job.job_id} what="job id" />
          <span>{job.job_type}</span>
          <span>priority {job.priority}</span>
          {job.worker_id !== '' && (
            <span>
              on <Foreign text={job.worker_id} />
            </span>
          )}
        </p>
      </div>
      <div class="row job-actions">
        {!hasEnded(job) && (
          <button type="button" class="danger" onClick={record.cancel}>
            <Icon name="close" /> Cancel
          </button>
        )}
        {hasEnded(job) && (failed > 0 || job.status === 'failed') && (
          <button
            type="button"
            class="primary"
            onClick={() => {
              record.retry('failed');
            }}
          >
            <Icon name="retry" /> Retry{' '}
            {plural(failed + job.image_count - job.finished_images, 'failed image')}
          </button>
        )}
        {hasEnded(job) && (
          <button
            type="button"
            onClick={() => {
              record.retry('all');
            }}
          >
            <Icon name="retry" /> Run again
          </button>
        )}
        {hasEnded(job) && <JobDownloads job={job} />}
      </div>
      <Progress job={job} now={now} />
    </header>
  );
}

function Progress({ job, now }: { job: JobStatus; now: number }) {
  const pace = paceText(job, now);
  return (
    <div class="job-progress">
      <progress
        max="1"
        value={job.progress}
        class={job.status}
        aria-label={`${percent(job.progress)} of the images are done`}
      />
      <div class="job-facts">
        <p>
          <b>{grouped(job.finished_images)}</b> of {plural(job.image_count, 'image')}
          {job.failed_images > 0 && <span class="bad">, {grouped(job.failed_images)} failed</span>}
          {pace !== '' && <span class="fine"> · {pace}</span>}
        </p>
        <Times job={job} now={now} />
      </div>
    </div>
  );
}

/** The points of a job's life, with the time between them. */
function Times({ job, now }: { job: JobStatus; now: number }) {
  const { submitted_at, started_at, completed_at } = job;
  return (
    <dl class="times">
      <div>
        <dt>Submitted</dt>
        <dd title={clock(submitted_at, now)}>{ago(now - submitted_at)}</dd>
      </div>
      <div>
        <dt>Waited</dt>
        <dd>{duration((started_at ?? completed_at ?? now) - submitted_at)}</dd>
      </div>
      <div>
        <dt>{completed_at === null ? 'Running for' : 'Took'}</dt>
        <dd>
          {started_at === null ? 'not started' : duration((completed_at ?? now) - started_at)}
        </dd>
      </div>
      <div>
        <dt>Ended</dt>
        <dd title={completed_at === null ? '' : clock(completed_at, now)}>
          {completed_at === null ? 'not yet' : ago(now - completed_at)}
        </dd>
      </div>
    </dl>
  );
}

/** Unix seconds; moves on by itself. */
function useNow(isQuick: boolean): number {
  const now = useSignal(Date.now() / 1000);
  useEffect(() => {
    const timer = setInterval(() => (now.value = Date.now() / 1000), isQuick ? 500 : 10_000);
    return () => {
      clearInterval(timer);
    };
  }, [isQuick, now]);
  return now.value;
}
