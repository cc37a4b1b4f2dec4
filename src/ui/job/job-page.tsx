/** One job: how it went, what was found, and its images. */
import { useComputed } from '@preact/signals';
import { leftOutFiles } from '../../api/left-out.js';
import type { JobStatus, JobSummary } from '../../client/records.js';
import { address, setQuery } from '../address/location.js';
import { shownState } from '../jobs/job-table.js';
import { Button } from '../parts/button.js';
import { Problem } from '../parts/problem.js';
import { Skeleton } from '../parts/skeleton.js';
import { UploadOfPictures } from '../picture/upload-context.js';
import { grouped, plural } from '../text/format.js';
import { BoxesChart } from './boxes-chart.js';
import { CropGallery } from './crop-gallery.js';
import { readFilter, type ImageFilter } from './image-filter.js';
import { ImageView } from './image-view.js';
import { JobComparison } from './job-comparison.js';
import { JobDetails } from './job-details.js';
import { JobFilterPanel } from './job-filter-panel.js';
import { JobGrid } from './job-grid.js';
import { JobHead } from './job-head.js';
import { useJobRecord, type JobRecord } from './job-record.js';
import { gridKey } from './last-place.js';

const SHOWN = [
  { name: 'images', text: 'Images', icon: 'picture' },
  { name: 'boxes', text: 'Boxes', icon: 'detect' },
  { name: 'changes', text: 'Changes', icon: 'copy' },
] as const;
type Shown = (typeof SHOWN)[number]['name'];

/** The job that the address names. */
export function JobPage() {
  const { route } = address.value;
  return route.screen === 'job' || route.screen === 'image' ? (
    <JobOfId key={route.jobId} jobId={route.jobId} />
  ) : null;
}

function JobOfId({ jobId }: { jobId: string }) {
  const record = useJobRecord(jobId);
  const job = record.job.value;
  const fault = record.fault.value;
  const filter = useComputed(() => readFilter(address.value.query)).value;
  const { route } = address.value;
  if (job !== null) {
    return (
      // Null: its pictures are beneath the image folders.
      <UploadOfPictures.Provider value={job.upload ?? undefined}>
        {route.screen === 'image' ? (
          <ImageView
            jobId={jobId}
            threshold={job.confidence_threshold}
            index={route.index}
            filter={filter}
          />
        ) : (
          <Job job={job} record={record} filter={filter} />
        )}
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

interface JobProps {
  job: JobStatus;
  record: JobRecord;
  filter: ImageFilter;
}

function Job({ job, record, filter }: JobProps) {
  const shown = SHOWN.find(({ name }) => name === address.value.query.show)?.name ?? 'images';
  const fault = record.fault.value;
  // Another filter is another list: it begins at its top.
  const key = gridKey(job.job_id, filter);
  return (
    <>
      <JobHead job={job} record={record} filter={filter} />
      {fault !== null && <Problem error={fault} />}
      <LeftOutFiles summary={record.summary.value} />
      {shownState(job) === 'cancelled' ? (
        <p class="calm">{cancelledText(job)}</p>
      ) : (
        job.error !== null && <Problem error={job.error} />
      )}
      <BoxesChart job={job} />
      <div class="job-body">
        <JobFilterPanel job={job} summary={record.summary.value} filter={filter} />
        <div>
          <ViewTabs shown={shown} />
          {shown === 'changes' ? (
            <JobComparison job={job} />
          ) : shown === 'boxes' ? (
            record.summary.value !== null && (
              <CropGallery
                key={key}
                jobId={job.job_id}
                summary={record.summary.value}
                filter={filter}
              />
            )
          ) : (
            <JobGrid key={key} job={job} filter={filter} epoch={record.epoch.value} />
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

function ViewTabs({ shown }: { shown: Shown }) {
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
