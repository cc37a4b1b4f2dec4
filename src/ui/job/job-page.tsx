/** One job: how it went, what was found, and its images. */
import { useComputed } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { leftOutFiles } from '../../api/left-out.js';
import type { JobQuestion, JobStatus, JobSummary } from '../../client/records.js';
import { address, setQuery } from '../address/location.js';
import { shownState } from '../jobs/job-table.js';
import { Button } from '../parts/button.js';
import { Problem } from '../parts/problem.js';
import { Skeleton } from '../parts/skeleton.js';
import { UploadOfPictures } from '../picture/upload-context.js';
import { draftCorners, isEditing } from '../regions/region-choice.js';
import { loadViews } from '../regions/views.js';
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
import { QuestionBar } from './question-bar.js';
import { questionChoice, type QuestionChoice } from './question-choice.js';

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
  const choice = useMemo(() => questionChoice(record), [record]);
  const job = record.job.value;
  const fault = record.fault.value;
  const filter = useComputed(() => readFilter(address.value.query)).value;
  const { route } = address.value;
  useEffect(() => {
    // The detect view may have been left in the middle of a drawing.
    isEditing.value = false;
    draftCorners.value = null;
    void loadViews();
  }, []);
  if (job !== null) {
    return (
      // Null: its pictures are beneath the image folders.
      <UploadOfPictures.Provider value={job.upload ?? undefined}>
        {route.screen === 'image' ? (
          <ImageView record={record} choice={choice} index={route.index} filter={filter} />
        ) : (
          <Job job={job} record={record} choice={choice} filter={filter} />
        )}
        <QuestionBar record={record} />
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
  choice: QuestionChoice;
  filter: ImageFilter;
}

function Job({ job, record, choice, filter }: JobProps) {
  const fault = record.fault.value;
  const question = record.asked.value;
  return (
    <>
      <JobHead job={job} record={record} filter={filter} />
      {fault !== null && <Problem error={fault} />}
      <LeftOutFiles summary={record.own.value} />
      {shownState(job) === 'cancelled' ? (
        <p class="calm">{cancelledText(job)}</p>
      ) : (
        job.error !== null && <Problem error={job.error} />
      )}
      {question !== null && <BoxesChart job={job} question={question} />}
      <div class="job-body">
        <JobFilterPanel job={job} summary={record.summary.value} filter={filter} choice={choice} />
        {question !== null && (
          <JobContent job={job} record={record} question={question} filter={filter} />
        )}
      </div>
      <JobDetails job={job} own={record.own.value} />
    </>
  );
}

interface ContentProps extends Omit<JobProps, 'choice'> {
  question: JobQuestion;
}

function JobContent({ job, record, question, filter }: ContentProps) {
  const shown = SHOWN.find(({ name }) => name === address.value.query.show)?.name ?? 'images';
  const summary = record.summary.value;
  // Another filter is another list: it begins at its top.
  const key = gridKey(job.job_id, filter);
  return (
    <div>
      <ViewTabs shown={shown} />
      {shown === 'changes' ? (
        <JobComparison job={job} question={question} />
      ) : shown === 'boxes' ? (
        summary !== null && (
          <CropGallery
            key={key}
            jobId={job.job_id}
            summary={summary}
            filter={filter}
            question={question}
          />
        )
      ) : (
        <JobGrid
          key={key}
          job={job}
          filter={filter}
          question={question}
          epoch={record.epoch.value}
        />
      )}
    </div>
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
