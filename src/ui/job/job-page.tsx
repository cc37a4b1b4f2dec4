/** One job: how it went, what was found, and its images. */
import { useComputed } from '@preact/signals';
import { leftOutFiles } from '../../api/left-out.js';
import type { JobStatus, JobSummary } from '../../client/records.js';
import { address, setQuery } from '../address/location.js';
import { shownState } from '../jobs/job-table.js';
import { Button } from '../parts/button.js';
import { Problem } from '../parts/problem.js';
import { Skeleton } from '../parts/skeleton.js';
import { grouped, plural } from '../text/format.js';
import { CropGallery } from './crop-gallery.js';
import { readFilter } from './image-filter.js';
import { ImageView } from './image-view.js';
import { JobComparison } from './job-comparison.js';
import { JobCounts } from './job-counts.js';
import { JobDetails } from './job-details.js';
import { JobFigures } from './job-figures.js';
import { JobGrid } from './job-grid.js';
import { JobHead } from './job-head.js';
import { useJobRecord, type JobRecord } from './job-record.js';
import { UploadOfPictures } from '../picture/upload-context.js';

const SHOWN = [
  { name: 'images', text: 'Images', icon: 'picture' },
  { name: 'boxes', text: 'Boxes', icon: 'detect' },
  { name: 'changes', text: 'Changes', icon: 'copy' },
] as const;
type Shown = (typeof SHOWN)[number]['name'];

/** The job that the address names. */
export function JobPage() {
  const { place } = address.value;
  return place.view === 'job' || place.view === 'image' ? (
    <JobOfId key={place.jobId} jobId={place.jobId} />
  ) : null;
}

function JobOfId({ jobId }: { jobId: string }) {
  const record = useJobRecord(jobId);
  const job = record.job.value;
  const fault = record.fault.value;
  if (job !== null) {
    return (
      <UploadOfPictures.Provider value={job.upload ?? undefined}>
        <Job job={job} record={record} />
      </UploadOfPictures.Provider>
    );
  }
  if (fault === null) return <Skeleton label="Reading the job" lines={4} />;
  return (
    <>
      <p>
        <a href="#/jobs">All jobs</a>
      </p>
      <h1>This job cannot be shown</h1>
      <Problem error={fault} />
    </>
  );
}

function Job({ job, record }: { job: JobStatus; record: JobRecord }) {
  const filter = useComputed(() => readFilter(address.value.query));
  const { place } = address.value;
  const shown = SHOWN.find(({ name }) => name === address.value.query.show)?.name ?? 'images';
  const jobId = job.job_id;
  const fault = record.fault.value;
  if (place.view === 'image') {
    return (
      <ImageView
        jobId={jobId}
        threshold={job.confidence_threshold}
        index={place.index}
        filter={filter.value}
      />
    );
  }
  return (
    <>
      <JobHead job={job} record={record} filter={filter.value} />
      {fault !== null && <Problem error={fault} />}
      <LeftOutFiles summary={record.summary.value} />
      {shownState(job) === 'cancelled' ? (
        <p class="calm">{cancelledText(job)}</p>
      ) : (
        job.error !== null && <Problem error={job.error} />
      )}
      <JobCounts job={job} />
      <div class="job-body">
        <JobFigures job={job} summary={record.summary.value} filter={filter.value} />
        <div>
          <ShownChoice shown={shown} />
          {shown === 'changes' ? (
            <JobComparison job={job} />
          ) : shown === 'boxes' ? (
            record.summary.value !== null && (
              <CropGallery
                key={JSON.stringify([jobId, filter.value])}
                jobId={jobId}
                summary={record.summary.value}
                filter={filter.value}
              />
            )
          ) : (
            <JobGrid
              key={JSON.stringify([jobId, filter.value])}
              job={job}
              filter={filter.value}
              epoch={record.epoch.value}
            />
          )}
        </div>
      </div>
      <JobDetails job={job} summary={record.summary.value} />
    </>
  );
}

function LeftOutFiles({ summary }: { summary: JobSummary | null }) {
  const sentence = leftOutFiles(summary?.left_out ?? {});
  return sentence === '' ? null : <p class="fine left-out">{sentence}.</p>;
}

function cancelledText({ finished_images: done, image_count: all }: JobStatus): string {
  const left = all - done;
  const rest = `${grouped(left)} ${left === 1 ? 'was' : 'were'} not run.`;
  return done === 0
    ? `Cancelled before the first of ${plural(all, 'image')}.`
    : `Cancelled after ${grouped(done)} of ${plural(all, 'image')}; ${rest}`;
}

function ShownChoice({ shown }: { shown: Shown }) {
  return (
    <div class="row shown-choice" role="group" aria-label="Show">
      {SHOWN.map(({ name, text, icon }) => (
        <Button
          key={name}
          class="quiet"
          icon={icon}
          aria-pressed={shown === name}
          onClick={() => setQuery({ show: name === 'images' ? '' : name })}
        >
          {text}
        </Button>
      ))}
    </div>
  );
}
