/** The report of a run: that of a job which has the images of all jobs of the run. */
import { pictureDrawer } from '../../http/routes/jobs/picture-maker.js';
import { createHideFolders } from '../../answers/shown-problem.js';
import { NO_LABELS } from '../../api/job-labels.js';
import type { LeftOut } from '../../api/left-out.js';
import { jobsReport } from '../../report/jobs-report.js';
import type { NetworkRates } from '../../report/words.js';
import type { CountSums } from '../../jobs/count-sums.js';
import type { openParts } from '../../service/open-parts.js';
import type { Config } from '../../settings/config.js';
import type { Job } from '../../store/job.js';
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

export function reportOfRun(run: EndedRun): Promise<string> {
  const { config, parts, jobs, named, leftOut, network } = run;
  const { service } = parts.jobs;
  const hide = createHideFolders(config);
  const facts = { labels: NO_LABELS, typed: typedPaths(named.given), leftOut, network };
  return jobsReport(
    { jobs, run: facts, images: service, question: {}, keyId: null },
    {
      ...{ jobs: service, detector: parts.models.detector, hide, version: parts.shared.version },
      draw: pictureDrawer(jobs[0], { ...parts, hide, draining: () => false }),
    },
  );
}
