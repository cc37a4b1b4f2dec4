/** The newest jobs. */
import { useEffect } from 'preact/hooks';
import type { JobStatus } from '../../client/records.js';
import { hashOf } from '../address/address.js';
import { Empty } from '../parts/empty.js';
import { Problem } from '../parts/problem.js';
import { Skeleton } from '../parts/skeleton.js';
import { percent } from '../text/format.js';
import { hasMore, jobs, listFault, refreshJobs, showOlder, watchJobs } from './job-list.js';
import { jobRow } from './job-row.js';
import { SubmitForm } from './submit-form.js';

export function JobsView() {
  useEffect(watchJobs, []);
  return (
    <>
      <h1>Jobs</h1>
      <details class="card">
        <summary>Submit a job</summary>
        <SubmitForm onAccepted={refreshJobs} />
      </details>
      {listFault.value !== null && (
        <Problem error={listFault.value}>
          <button type="button" onClick={refreshJobs}>
            Try again
          </button>
        </Problem>
      )}
      <JobRows />
      {hasMore.value && (
        <button type="button" onClick={showOlder}>
          Show older jobs
        </button>
      )}
    </>
  );
}

function JobRows() {
  const rows = jobs.value;
  if (rows === null) return <Skeleton label="Reading the jobs" lines={6} />;
  if (rows.length === 0) return <Empty icon="jobs" title="There are no jobs yet" />;
  const now = Date.now() / 1000;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Newest jobs">
      <table>
        <thead>
          <tr>
            {['Job', 'State', 'Progress', 'Images', 'Type', 'Submitted', 'Took'].map((heading) => (
              <th key={heading} scope="col">
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((job) => (
            <Row key={job.job_id} job={job} now={now} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ job, now }: { job: JobStatus; now: number }) {
  const row = jobRow(job, now);
  return (
    <tr>
      <td>
        <a href={hashOf({ view: 'job', jobId: job.job_id })}>{job.job_id}</a>
      </td>
      <td>
        <span class={`state ${job.status}`}>{row.state}</span>
      </td>
      <td>
        <progress max="1" value={job.progress} aria-label={percent(job.progress)} />
      </td>
      <td>{row.images}</td>
      <td>{row.type}</td>
      <td>{row.submitted}</td>
      <td>{row.took}</td>
    </tr>
  );
}
