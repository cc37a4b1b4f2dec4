/** The top of a job's page: its name and state, its times, and what can be done with it. */
import { useSignal } from '@preact/signals';
import { queryOf } from '../../client/api-calls.js';
import type { JobQuestion, JobStatus, ResultFormat } from '../../client/records.js';
import { LABELS } from '../../api/job-labels.js';
import type { PictureKind } from '../../api/job-values.js';
import { hashOf } from '../address/address.js';
import { hasEnded, shownState } from '../jobs/job-table.js';
import { StatePill } from '../jobs/state-pill.js';
import { Button } from '../parts/button.js';
import { ConfirmButton } from '../parts/confirm-button.js';
import { CopyButton } from '../parts/copy-button.js';
import { FileLink } from '../parts/file-link.js';
import { Facts, type Fact } from '../parts/facts.js';
import { Foreign } from '../parts/foreign.js';
import { InPlace } from '../parts/in-place.js';
import { Problem } from '../parts/problem.js';
import { useNow } from '../parts/use-now.js';
import { service } from '../session/session.js';
import { ago, clock, duration, grouped, percent, plural } from '../text/format.js';
import type { ImageFilter } from './image-filter.js';
import { JobLabels } from './job-labels.js';
import type { JobRecord } from './job-record.js';
import { paceText } from './pace.js';

interface HeadProps {
  job: JobStatus;
  record: JobRecord;
  filter: ImageFilter;
}

export function JobHead({ job, record, filter }: HeadProps) {
  const now = useNow(hasEnded(job) ? 10_000 : 500);
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
          {job.watch !== null && (
            <>
              {' · from the watch '}
              <a href={hashOf({ screen: 'watches' }, { name: job.watch })}>
                <Foreign text={job.watch} />
              </a>
            </>
          )}
        </p>
        <div class="job-title">
          <StatePill state={shownState(job)} />
          <InPlace
            label="Name"
            text={job.name ?? ''}
            most={LABELS.name.most}
            placeholder={job.title}
            onSave={(name) => record.edit({ name })}
          >
            <h1>
              <Foreign text={job.title} />
            </h1>
          </InPlace>
        </div>
        <p class="fine job-id">
          <code>{job.job_id}</code>
          <CopyButton text={job.job_id} what="job id" />
          <span>{job.job_type}</span>
          <span>
            {job.model_name} from {percent(job.confidence_threshold)}
          </span>
          <span>priority {job.priority}</span>
          {job.worker_id !== '' && (
            <span>
              on <Foreign text={job.worker_id} />
            </span>
          )}
        </p>
      </div>
      <div class="row job-actions">
        {hasEnded(job) ? (
          <>
            <RunAgain job={job} record={record} />
            <JobDownloads job={job} record={record} filter={filter} />
            <DeleteJob job={job} record={record} />
          </>
        ) : (
          <Button icon="close" class="danger" onClick={record.cancel}>
            Cancel
          </Button>
        )}
      </div>
      <JobLabels job={job} record={record} now={now} />
      <Progress job={job} now={now} />
    </header>
  );
}

/** All images, and those without boxes: of a job that was cancelled, the ones that it did not come to. */
function RunAgain({ job, record }: { job: JobStatus; record: JobRecord }) {
  const { failed_images: failed, image_count, finished_images } = job;
  const left = image_count - finished_images;
  const isCancelled = shownState(job) === 'cancelled';
  const all = (
    <Button
      icon="retry"
      class={isCancelled ? 'primary' : undefined}
      onClick={() => record.retry('all')}
    >
      Run again
    </Button>
  );
  // If a job was cancelled before its first boxes, these are all.
  const isSome = failed + left > 0 && !(isCancelled && finished_images === failed);
  const some = isSome && (
    <Button
      icon="retry"
      class={isCancelled ? undefined : 'primary'}
      onClick={() => record.retry('failed')}
    >
      {isCancelled ? remainingText(left, failed) : `Retry ${plural(failed + left, 'failed image')}`}
    </Button>
  );
  return isCancelled ? [all, some] : [some, all];
}

function remainingText(left: number, failed: number): string {
  return `Run the ${grouped(left)} remaining${failed > 0 ? ` and ${grouped(failed)} failed` : ''}`;
}

function DeleteJob({ job, record }: { job: JobStatus; record: JobRecord }) {
  return (
    <ConfirmButton
      label="Delete"
      title="Delete this job?"
      confirm="Delete the job"
      onConfirm={record.remove}
    >
      <p>
        <b>
          <Foreign text={job.title} />
        </b>
      </p>
      <p>
        The results of {plural(job.finished_images, 'image')} with{' '}
        {plural(job.total_count, 'box', 'boxes')} are deleted, and the pictures that were drawn of
        them. They cannot be brought back. The images themselves stay where they are.
      </p>
    </ConfirmButton>
  );
}

function Progress({ job, now }: { job: JobStatus; now: number }) {
  const pace = paceText(job, now);
  return (
    <div class="job-progress">
      <progress
        max="1"
        value={job.progress}
        class={shownState(job)}
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
  const end = completed_at ?? now;
  const times: Fact[] = [
    ['Submitted', ago(now - submitted_at), clock(submitted_at, now)],
    ['Waited', duration((started_at ?? end) - submitted_at)],
    [
      completed_at === null ? 'Running for' : 'Took',
      started_at === null ? 'not started' : duration(end - started_at),
    ],
    completed_at === null
      ? ['Ended', 'not yet']
      : ['Ended', ago(now - completed_at), clock(completed_at, now)],
  ];
  return <Facts class="times" facts={times} />;
}

const FORMATS: readonly { format: ResultFormat; name: string; ending: string }[] = [
  { format: 'json', name: 'JSON', ending: '.json' },
  { format: 'csv', name: 'CSV', ending: '.csv' },
  { format: 'coco', name: 'COCO', ending: '.coco.json' },
  { format: 'yolo', name: 'YOLO', ending: '.zip' },
  { format: 'geojson', name: 'GeoJSON', ending: '.geojson' },
];

const PICTURES: readonly { kind: PictureKind; name: string; title: string; ending: string }[] = [
  {
    kind: 'drawn',
    name: 'Pictures',
    title: 'All pictures with their boxes drawn, as a zip',
    ending: 'pictures.zip',
  },
  {
    kind: 'covered',
    name: 'Covered',
    title:
      'All pictures with their boxes made unrecognizable, as a zip; boxes that were missed stay visible',
    ending: 'covered.zip',
  },
  {
    kind: 'crops',
    name: 'Crops',
    title: 'A picture of each box, in folders by class, as a zip',
    ending: 'crops.zip',
  },
];

interface Download {
  name: string;
  title?: string;
  path: string;
  fileName: string;
  chunks: () => AsyncIterable<Uint8Array<ArrayBuffer>>;
}

function downloadsOf(
  { job_id: id }: JobStatus,
  { classes }: ImageFilter,
  question: JobQuestion,
): Download[] {
  const route = `/v1/jobs/${encodeURIComponent(id)}`;
  const shown = classes.length === 0 ? {} : { class: [...classes] };
  return [
    ...FORMATS.map(({ format, name, ending }) => ({
      name,
      path: `${route}/result${queryOf({ format, ...question })}`,
      fileName: id + ending,
      chunks: () => service.export(id, format, { question }),
    })),
    ...PICTURES.map(({ kind, ending, ...shownAs }) => ({
      ...shownAs,
      path: `${route}/${kind}${queryOf({ ...shown, ...question })}`,
      fileName: `${id}.${ending}`,
      chunks: () => service.pictures(id, kind, shown, { question }),
    })),
    {
      name: 'Report',
      title: 'Counts, failures and some pictures as one page to read, print or send',
      path: `${route}/report${queryOf({ ...question })}`,
      fileName: `${id}.report.html`,
      chunks: () => service.report(id, { question }),
    },
  ];
}

function JobDownloads({ job, record, filter }: HeadProps) {
  const fault = useSignal<unknown>(null);
  return (
    <>
      <ul class="downloads" aria-label="Download the result">
        {downloadsOf(job, filter, record.asked.value ?? {}).map(({ name, chunks, ...download }) => {
          const fetched = () => {
            fault.value = null;
            return chunks();
          };
          return (
            <li key={name}>
              <FileLink {...download} chunks={fetched} fault={fault}>
                {name}
              </FileLink>
            </li>
          );
        })}
      </ul>
      {fault.value !== null && <Problem error={fault.value} />}
    </>
  );
}
