/** One job: its record, its result, and the buttons that cancel it or run its failed images again. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { JobResult, JobRetried, JobStatus } from '../../client/records.js';
import { goTo } from '../address/location.js';
import { followJobs } from '../live/live.js';
import { Foreign } from '../parts/foreign.js';
import { Problem } from '../parts/problem.js';
import { Skeleton } from '../parts/skeleton.js';
import { api } from '../session/session.js';
import { clock } from '../text/format.js';
import { jobRow } from './job-row.js';
import { afterEvent, hasEnded } from './job-table.js';
import { resultSummary } from './result-summary.js';

const IMAGES_SHOWN = 20;

export function JobPage({ jobId }: { jobId: string }) {
  const job = useSignal<JobStatus | null>(null);
  const result = useSignal<JobResult | null>(null);
  const fault = useSignal<unknown>(null);
  const path = `/v1/jobs/${encodeURIComponent(jobId)}`;
  const ask = async (call: () => Promise<void>): Promise<void> => {
    fault.value = null;
    await call().catch((error: unknown) => (fault.value = error));
  };
  const load = async (): Promise<void> => {
    job.value = await api.get<JobStatus>(`${path}/status`);
    if (hasEnded(job.value)) result.value = await api.get<JobResult>(`${path}/result`);
  };
  useEffect(() => {
    job.value = result.value = null;
    void ask(load);
    return followJobs({
      onEvent: (event) => {
        if (event.job_id !== jobId || job.value === null) return;
        job.value = afterEvent(job.value, event);
        if (hasEnded(job.value)) void ask(load);
      },
      onUnknownPast: () => void ask(load),
    });
  }, [jobId]);
  const record = job.value;
  return (
    <>
      <p>
        <a href="#/jobs">All jobs</a>
      </p>
      <h1>
        <Foreign text={jobId} />
      </h1>
      {fault.value !== null && <Problem error={fault.value} />}
      {record === null ? (
        fault.value === null && <Skeleton label="Reading the job" />
      ) : (
        <>
          <p class="row">
            {!hasEnded(record) && (
              <button
                type="button"
                onClick={() =>
                  void ask(async () => {
                    job.value = await api.delete<JobStatus>(path);
                  })
                }
              >
                Cancel this job
              </button>
            )}
            {hasEnded(record) && (record.status === 'failed' || record.failed_images > 0) && (
              <button
                type="button"
                onClick={() =>
                  void ask(async () => {
                    const { job_id } = await api.post<JobRetried>(`${path}/retry`, {});
                    goTo({ view: 'job', jobId: job_id });
                  })
                }
              >
                Run the failed images again
              </button>
            )}
          </p>
          <Facts job={record} />
          {record.error !== null && <Problem error={record.error} />}
        </>
      )}
      {result.value !== null && <Result result={result.value} />}
    </>
  );
}

function Facts({ job }: { job: JobStatus }) {
  const now = Date.now() / 1000;
  const row = jobRow(job, now);
  const time = (at: number | null): string => (at === null ? 'not yet' : clock(at, now));
  const facts = {
    State: row.state,
    Images: row.images,
    Type: row.type,
    Priority: row.priority,
    Submitted: row.submitted,
    Started: time(job.started_at),
    Ended: time(job.completed_at),
    Waited: row.waited,
    Took: row.took === '' ? 'not yet' : row.took,
    Worker: job.worker_id || 'none yet',
  };
  return (
    <dl class="facts">
      {Object.entries(facts).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Foreign text={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Result({ result }: { result: JobResult }) {
  const { summary, rows } = resultSummary(result, IMAGES_SHOWN);
  return (
    <>
      <h2>Result</h2>
      <p>
        <Foreign text={summary} />
      </p>
      <ul>
        {rows.map(({ path, outcome }) => (
          <li key={path}>
            <Foreign text={path} />: <Foreign text={outcome} />
          </li>
        ))}
      </ul>
    </>
  );
}
