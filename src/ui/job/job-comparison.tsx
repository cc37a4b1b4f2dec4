/** A job against another one over the same images: the images with the most changes, with their boxes. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { JobChanges, JobQuestion, JobStatus } from '../../client/records.js';
import { hashOf } from '../address/address.js';
import { address, setQuery } from '../address/location.js';
import { Button } from '../parts/button.js';
import { Empty } from '../parts/empty.js';
import { Foreign } from '../parts/foreign.js';
import { Problem } from '../parts/problem.js';
import { Skeleton } from '../parts/skeleton.js';
import { ChangeCounts, numberedChanges } from '../picture/compared-boxes.js';
import { ComparedPicture } from '../picture/compared-picture.js';
import { service, show } from '../session/session.js';
import { ago, plural, visible } from '../text/format.js';
import { JobAgreementOf } from './job-agreement.js';
import { OtherModel } from './other-model.js';
import { questionTexts } from './question.js';

/** Large pictures are fetched for all of a page. */
const PAGE = 8;
const RECENT = 100;

const AGREEMENT = 'agreement';
const REPORTS = [
  { name: '', text: 'Image by image' },
  { name: AGREEMENT, text: 'Agreement of the models' },
] as const;

type ChangedImage = JobChanges['images'][number];

interface ComparisonProps {
  job: JobStatus;
  question: JobQuestion;
}

export function JobComparison({ job, question }: ComparisonProps) {
  const recent = useSignal<readonly JobStatus[] | null>(null);
  const fault = useSignal<unknown>(null);
  const { with: chosen = '', report } = address.value.query;
  const isAgreement = report === AGREEMENT;
  useEffect(() => {
    const read = async () => (await service.listPage({ limit: RECENT })).jobs;
    void show(read(), recent, fault);
  }, [job.job_id, fault, recent]);
  return (
    <section class="job-images" aria-label="Changes">
      <JobChoice job={job} recent={recent.value ?? []} chosen={chosen} />
      <OtherModel job={job} />
      {fault.value !== null && <Problem error={fault.value} />}
      {chosen !== '' && (
        <>
          <ReportChoice />
          {isAgreement ? (
            <JobAgreementOf key={chosen} job={job} other={chosen} question={question} />
          ) : (
            <Changes key={chosen} job={job} other={chosen} question={question} />
          )}
        </>
      )}
    </section>
  );
}

function ReportChoice() {
  const { report } = address.value.query;
  return (
    <div class="row shown-choice" role="group" aria-label="Report">
      {REPORTS.map(({ name, text }) => (
        <Button
          key={name}
          class="quiet"
          aria-pressed={(report === AGREEMENT) === (name === AGREEMENT)}
          onClick={() => setQuery({ report: name })}
        >
          {text}
        </Button>
      ))}
    </div>
  );
}

interface JobChoiceProps {
  job: JobStatus;
  recent: readonly JobStatus[];
  chosen: string;
}

/** The list does not say which images a job has: those of as many come first. */
function JobChoice({ job, recent, chosen }: JobChoiceProps) {
  const others = recent.filter(({ job_id }) => job_id !== job.job_id);
  const isAlike = ({ image_count }: JobStatus): boolean => image_count === job.image_count;
  const groups = [
    { name: `Of ${plural(job.image_count, 'image')}, as this one`, jobs: others.filter(isAlike) },
    { name: 'Of other numbers of images', jobs: others.filter((each) => !isAlike(each)) },
  ];
  const isListed = others.some(({ job_id }) => job_id === chosen);
  return (
    <label class="row">
      <span class="panel-title">Compare with another job</span>
      <select
        value={chosen}
        onChange={({ currentTarget }) => setQuery({ with: currentTarget.value })}
      >
        <option value="">none</option>
        {chosen !== '' && !isListed && <option value={chosen}>{chosen}</option>}
        {groups
          .filter(({ jobs }) => jobs.length > 0)
          .map(({ name, jobs }) => (
            <optgroup key={name} label={name}>
              {jobs.map((each) => (
                <option key={each.job_id} value={each.job_id}>
                  {jobText(each)}
                </option>
              ))}
            </optgroup>
          ))}
      </select>
    </label>
  );
}

function jobText({ title, submitted_at, image_count, job_id }: JobStatus): string {
  const age = ago(Date.now() / 1000 - submitted_at);
  return [visible(title), plural(image_count, 'image'), age, job_id.slice(-8)].join(' · ');
}

function Changes({ job, other, question }: ComparisonProps & { other: string }) {
  const changes = useSignal<JobChanges | null>(null);
  const fault = useSignal<unknown>(null);
  const isReading = useSignal(false);
  const read = async (offset: number): Promise<JobChanges> => {
    const page = await service.changes(job.job_id, other, { offset, limit: PAGE }, { question });
    const before = offset === 0 ? [] : (changes.peek()?.images ?? []);
    return { ...page, images: [...before, ...page.images] };
  };
  useEffect(() => {
    void show(read(0), changes, fault);
  }, [job.job_id, job.status, other, question]);
  const shown = changes.value;
  if (shown === null) {
    if (fault.value !== null) return <Problem error={fault.value} />;
    return <Skeleton label="Comparing the jobs" lines={5} />;
  }
  const { next_offset: next, images, matching } = shown;
  const more = async (offset: number): Promise<void> => {
    isReading.value = true;
    await show(read(offset), changes, fault);
    isReading.value = false;
  };
  return (
    <>
      <Figures changes={shown} />
      {fault.value !== null && <Problem error={fault.value} />}
      {images.length === 0 ? (
        <Empty icon="check" title="No image has changes" />
      ) : (
        <>
          <p class="fine" role="status">
            {plural(images.length, 'image')} of {plural(matching, 'image')} with changes, most
            changes first
          </p>
          <ol class="changed-images">
            {images.map((image) => (
              <li key={image.index} class="card">
                <Changed image={image} jobId={job.job_id} />
              </li>
            ))}
          </ol>
        </>
      )}
      {next !== null && (
        <p class="row">
          <Button disabled={isReading.value} onClick={() => void more(next)}>
            {isReading.value ? 'Comparing' : 'Show more images'}
          </Button>
        </p>
      )}
    </>
  );
}

function Figures({ changes }: { changes: JobChanges }) {
  const { box_counts, image_counts, classes, with: other, complete } = changes;
  const { compared, failed, pending, only_here, only_there, unread } = image_counts;
  const left = [
    [failed, 'failed in one of the jobs'],
    [pending, 'not ended in one of the jobs'],
    [only_here, 'only in this job'],
    [only_there, 'only in the other job'],
    [unread, 'not compared in the time there is'],
  ] as const;
  return (
    <div class="change-figures">
      <ChangeCounts counts={box_counts} />
      <p class="fine">
        {[
          `${plural(compared, 'image')} compared`,
          ...left.filter(([count]) => count > 0).map(([count, text]) => `${count} ${text}`),
        ].join(', ')}
        {!complete && unread === 0 && '; a job still runs'}
        {' · '}
        <a href={hashOf({ screen: 'job', jobId: other.job_id })}>the other job</a>
      </p>
      {classes.length > 0 && (
        <table>
          <caption class="hidden-label">Changes by class</caption>
          <thead>
            <tr>
              {['Class', 'Gained', 'Lost', 'Changed', 'The same'].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {classes.map(({ class: name, gained, lost, changed, same }) => (
              <tr key={name}>
                <th scope="row">
                  <Foreign text={name} />
                </th>
                <td>{gained}</td>
                <td>{lost}</td>
                <td>{changed}</td>
                <td>{same}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

function Changed({ image, jobId }: { image: ChangedImage; jobId: string }) {
  const { index, image_path: path, image: size } = image;
  const compared = useMemo(() => numberedChanges(image.boxes), [image]);
  return (
    <>
      <p class="row">
        <a href={hashOf({ screen: 'image', jobId, index }, questionTexts(address.value.query))}>
          <Foreign text={path} />
        </a>
      </p>
      <ComparedPicture path={path} size={size} compared={compared} counts={image} />
    </>
  );
}
