/** The report of ended jobs as a page: that of one job, or of a run, which has the images of all its jobs. */
import type { HideFolders } from '../answers/shown-problem.js';
import type { JobLabels } from '../api/job-labels.js';
import type { LeftOut } from '../api/left-out.js';
import type { Question } from '../api/question.js';
import type { Detector } from '../execution/detector.js';
import type { CountSums } from '../jobs/count-sums.js';
import type { JobService } from '../jobs/job-service.js';
import type { JobImages } from '../jobs/stored-images.js';
import type { ImageEntry, Job, JobModelUse, TypedPaths } from '../store/job.js';
import { runAgain } from '../store/retried-jobs.js';
import { allKept, readReport, type ReportSource } from './read-report.js';
import { reportPage } from './report-page.js';
import type { NetworkRates } from './words.js';

/** Facts of a run that its jobs do not have. */
export interface RunFacts {
  labels: JobLabels;
  typed: TypedPaths;
  leftOut: LeftOut;
  /** Null: not measured. */
  network: NetworkRates | null;
}

export interface ReportedJobs {
  /** Ended, with the same settings, the first submitted first. Their options are those of the question. */
  jobs: readonly [Job, ...Job[]];
  /** Null: the report is that of the first job. */
  run: RunFacts | null;
  images: Pick<JobImages, 'imagePages'>;
  /** Without boxes over dismissed places. */
  counts: Pick<CountSums, 'total' | 'sums'>;
  question: Question;
  keyId: string | null;
}

export interface ReportParts {
  jobs: Pick<JobService, 'asking'>;
  detector: Pick<Detector, 'models'>;
  hide: HideFolders;
  version: string;
  draw: ReportSource['draw'];
}

export async function jobsReport(
  { jobs: given, run, images, counts, question, keyId }: ReportedJobs,
  { jobs: service, detector, hide, version, draw }: ReportParts,
): Promise<string> {
  const jobs = countedJobs(given);
  const [first] = jobs;
  const job = run === null ? first : asOneJob(jobs, run);
  const hasKept = job.spec.scoreFloor !== undefined;
  const kept = hasKept ? await service.asking(allKept(job, question), keyId) : null;
  const report = await readReport({
    of: run === null ? 'job' : 'run',
    ...{ job, hide, draw, network: run?.network ?? null },
    ...{ imagePages: pagesOf(images, jobs), counts },
    keptPages: kept && pagesOf(kept, jobs),
    // A report without licences is better than none.
    models: await detector.models().catch(() => []),
  });
  return reportPage(report, version);
}

type CountedJob = Job & { isRetried: boolean };

/** The jobs with the images that count in them: one that is run again counts in its newest run, as in all counts. */
function countedJobs(jobs: readonly [Job, ...Job[]]): [CountedJob, ...CountedJob[]] {
  const again = runAgain(jobs);
  const counted = jobs
    .filter(({ jobId }) => again.get(jobId) !== 'all')
    .map((job): CountedJob => {
      if (!again.has(job.jobId)) return { ...job, isRetried: false };
      const results = job.finishedImages - job.failedImages;
      const figures = { imageCount: results, finishedImages: results, failedImages: 0 };
      return { ...job, ...figures, isRetried: true };
    });
  const [first = { ...jobs[0], isRetried: false }, ...more] = counted;
  return [first, ...more];
}

async function* pagesOf(
  images: Pick<JobImages, 'imagePages'>,
  jobs: readonly CountedJob[],
): AsyncGenerator<ImageEntry[], void> {
  for (const { jobId, isRetried } of jobs) {
    for await (const page of images.imagePages(jobId)) {
      yield isRetried ? page.filter(({ outcome }) => outcome?.status === 'ok') : page;
    }
  }
}

function asOneJob(
  jobs: readonly [Job, ...Job[]],
  { labels, typed, leftOut }: Omit<RunFacts, 'network'>,
): Job {
  const [first] = jobs;
  // A job of one damaged picture has failed, and the run has not.
  const { status, error } = jobs.find((job) => job.status === 'completed') ?? first;
  const sum = (name: 'imageCount' | 'finishedImages' | 'failedImages') =>
    jobs.reduce((total, job) => total + job[name], 0);
  const times = (name: 'startedAt' | 'completedAt') => jobs.flatMap((job) => job[name] ?? []);
  const startedAt = times('startedAt');
  return {
    ...first,
    ...{ status, error },
    imageCount: sum('imageCount'),
    finishedImages: sum('finishedImages'),
    failedImages: sum('failedImages'),
    startedAt: startedAt.length === 0 ? null : startedAt.reduce((a, b) => Math.min(a, b)),
    completedAt: times('completedAt').reduce((a, b) => Math.max(a, b)),
    models: modelsOf(jobs),
    spec: { ...first.spec, labels, typed, leftOut },
  };
}

function modelsOf(jobs: readonly Job[]): JobModelUse[] {
  const uses = new Map<string, JobModelUse>();
  for (const use of jobs.flatMap(({ models }) => models)) {
    const key = [use.name, use.digest, use.precision].join(' ');
    const { images = 0 } = uses.get(key) ?? {};
    uses.set(key, { ...use, images: images + use.images });
  }
  return [...uses.values()];
}
