/** The report of a run: that of a job which has the images of all jobs of the run. */
import { pictureDrawer } from '../../http/routes/jobs/picture-maker.js';
import { createHideFolders } from '../../answers/shown-problem.js';
import { NO_LABELS } from '../../api/job-labels.js';
import type { LeftOut } from '../../api/left-out.js';
import type { JobImages } from '../../jobs/stored-images.js';
import { reportPage } from '../../report/report-page.js';
import { allKept, readReport } from '../../report/read-report.js';
import type { NetworkRates } from '../../report/words.js';
import type { CountSums } from '../../jobs/count-sums.js';
import type { openParts } from '../../service/open-parts.js';
import type { Config } from '../../settings/config.js';
import type { Job, JobModelUse } from '../../store/job.js';
import { typedPaths } from '../../store/job-title.js';
import type { Named } from './named-files.js';

export interface EndedRun {
  config: Config;
  parts: Awaited<ReturnType<typeof openParts>>;
  /** In the order of their submission; at least one. */
  jobs: readonly [Job, ...Job[]];
  named: Pick<Named, 'given'>;
  /** Files of the folders that are no pictures of a run. */
  leftOut: LeftOut;
  counts: CountSums;
  /** Null: not measured. */
  network: NetworkRates | null;
}

export async function reportOfRun(run: EndedRun): Promise<string> {
  const { config, parts, jobs, counts, network } = run;
  const { service } = parts.jobs;
  const { detector } = parts.models;
  const hide = createHideFolders(config);
  const job = asOneJob(run);
  const asked = await service.asking(allKept(job, {}), null);
  const report = await readReport({
    of: 'run',
    ...{ job, hide, network },
    images: { imagePages: pagesOf(service, jobs), countSums: () => Promise.resolve(counts) },
    kept: { imagePages: pagesOf(asked, jobs) },
    // A report without licences is better than none.
    models: await detector.models().catch(() => []),
    draw: pictureDrawer(job, { ...parts, hide, draining: () => false }),
  });
  return reportPage(report, parts.shared.version);
}

function pagesOf(
  images: Pick<JobImages, 'imagePages'>,
  jobs: readonly Job[],
): JobImages['imagePages'] {
  return async function* () {
    for (const { jobId } of jobs) yield* images.imagePages(jobId);
  };
}

/** The jobs have the same settings. */
function asOneJob({ jobs, named, leftOut }: EndedRun): Job {
  const [first] = jobs;
  const sum = (name: 'imageCount' | 'finishedImages' | 'failedImages') =>
    jobs.reduce((total, job) => total + job[name], 0);
  const times = (name: 'startedAt' | 'completedAt') => jobs.flatMap((job) => job[name] ?? []);
  return {
    ...first,
    imageCount: sum('imageCount'),
    finishedImages: sum('finishedImages'),
    failedImages: sum('failedImages'),
    startedAt: Math.min(...times('startedAt')),
    completedAt: Math.max(...times('completedAt')),
    models: modelsOf(jobs),
    spec: { ...first.spec, labels: NO_LABELS, typed: typedPaths(named.given), leftOut },
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
