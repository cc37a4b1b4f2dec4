/** The request of a job and the deliveries of its webhook, folded. */
import { useSignal } from '@preact/signals';
import { shownOption } from '../../api/option-kinds.js';
import { PARAMETER_ROWS } from '../../api/options.js';
import type { JobStatus, JobSummary, WebhookList } from '../../client/records.js';
import { hasEnded } from '../jobs/job-table.js';
import { Button } from '../parts/button.js';
import { Facts, type Fact } from '../parts/facts.js';
import { Foreign } from '../parts/foreign.js';
import { Problem } from '../parts/problem.js';
import { Skeleton } from '../parts/skeleton.js';
import { service, show } from '../session/session.js';
import { clock, milliseconds, plural } from '../text/format.js';

interface DetailsProps {
  job: JobStatus;
  /** The figures of the job's own question. */
  own: JobSummary | null;
}

export function JobDetails({ job, own }: DetailsProps) {
  if (own === null) return null;
  const { request, metadata } = own;
  const facts: Fact[] = [
    ['Type', request.job_type],
    ['Model', request.model_name],
    ['Classes', request.classes?.join(', ') ?? 'all of the model'],
    ...PARAMETER_ROWS.map(({ label, kind, wireName }): [string, string] => [
      label,
      shownOption(kind, request[wireName]),
    ]),
    ['Priority', String(request.priority)],
    ['Drawn copies', yesOrNo(request.annotate)],
    ['Finds vehicles that stand', yesOrNo(request.places)],
    ['Webhook', yesOrNo(request.has_callback)],
  ];
  return (
    <div class="job-details">
      <details class="card">
        <summary>What was asked for</summary>
        <Facts facts={facts} />
      </details>
      {metadata !== null && (
        <details class="card">
          <summary>Metadata</summary>
          <pre class="code" tabIndex={0}>
            {JSON.stringify(metadata, null, 2)}
          </pre>
        </details>
      )}
      {request.has_callback && <Webhook job={job} />}
    </div>
  );
}

const yesOrNo = (value: boolean): string => (value ? 'yes' : 'no');

function Webhook({ job }: { job: JobStatus }) {
  const log = useSignal<WebhookList | null>(null);
  const fault = useSignal<unknown>(null);
  const ask = (call: Promise<WebhookList>): void => {
    fault.value = null;
    void show(call, log, fault);
  };
  return (
    <details
      class="card"
      onToggle={({ currentTarget }) => {
        if (currentTarget.open) ask(service.webhooks(job.job_id));
      }}
    >
      <summary>Webhook</summary>
      {fault.value !== null && <Problem error={fault.value} />}
      {log.value === null ? (
        fault.value === null && <Skeleton label="Reading the deliveries" lines={2} />
      ) : (
        <Deliveries log={log.value} />
      )}
      {hasEnded(job) && (
        <p class="row">
          <Button icon="retry" onClick={() => ask(service.redeliver(job.job_id))}>
            Send again
          </Button>
          <Button class="quiet" onClick={() => ask(service.webhooks(job.job_id))}>
            Refresh
          </Button>
        </p>
      )}
    </details>
  );
}

function Deliveries({ log: { deliveries } }: { log: WebhookList }) {
  const now = Date.now() / 1000;
  if (deliveries.length === 0) return <p class="fine">It is sent when the job has ended.</p>;
  return (
    <>
      {deliveries.map(({ webhook_id, state, attempt_count, attempts, next_attempt_at }) => (
        <div key={webhook_id}>
          <p>
            <b>{state.replace('_', ' ')}</b> after {plural(attempt_count, 'attempt')}
            {next_attempt_at !== null && `, next at ${clock(next_attempt_at, now)}`}
          </p>
          <ol class="attempts">
            {attempts.map(({ at, status, error, duration_ms }) => (
              <li key={at}>
                <span>{clock(at, now)}</span>
                <span>{status ?? 'no answer'}</span>
                <span>{milliseconds(duration_ms)}</span>
                <span class={error === null ? 'good' : 'bad'}>
                  <Foreign text={error ?? 'delivered'} />
                </span>
              </li>
            ))}
          </ol>
        </div>
      ))}
    </>
  );
}
