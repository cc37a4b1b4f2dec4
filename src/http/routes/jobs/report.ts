/** Reports of ended jobs as one page for people, with pictures: of one job, or of all jobs with a tag. */
import { z } from '@hono/zod-openapi';
import { LatticeError } from '../../../api/errors.js';
import { NO_LABELS } from '../../../api/job-labels.js';
import { addLeftOut, type LeftOut } from '../../../api/left-out.js';
import { listedJobs } from '../../../jobs/listed-jobs.js';
import type { JobService } from '../../../jobs/job-service.js';
import { jobsReport, type ReportedJobs, type RunFacts } from '../../../report/jobs-report.js';
import { REPORT_POLICY } from '../../../report/report-page.js';
import type { Job } from '../../../store/job.js';
import { typedPaths } from '../../../store/job-title.js';
import { replyRaw } from '../../answer/reply.js';
import type { AppContext } from '../../app-env.js';
import { readQuery } from '../../request/query.js';
import { validationFailed } from '../../request/validation.js';
import type { AddRoute, RouteSpec } from '../../route.js';
import type { RouteParts } from '../../route-parts.js';
import { ALL_BOXES } from '../count-scope.js';
import { JOB_ERRORS, notFinished, params } from './job-of-path.js';
import { listQuerySchema } from './list-query.js';
import { pictureDrawer } from './picture-maker.js';
import { ASKS_AGAIN, askedRequest, QUESTION_ERRORS, questionShape } from './question.js';

/** Each has a decoded picture in memory, and reads all images of its jobs. */
const MOST_REPORTS = 2;
/** Their records are in memory together. */
const MOST_JOBS = 10_000;

const reportQuerySchema = z.strictObject({});
const runQuerySchema = z.strictObject({
  tag: listQuerySchema.shape.tag.unwrap().openapi({ description: 'The tag of the jobs' }),
});

const CONTENT =
  'counts by class, folder and hour, failures, the settings, the model, and pictures with the surest and the least ' +
  'sure boxes and with boxes just below their threshold. A picture that cannot be read any more is named.';

const common = {
  method: 'get',
  tags: ['Jobs'],
  answers: {
    200: {
      description: 'The page',
      headers: z.object({ 'Content-Disposition': z.string() }),
      content: { 'text/html': { schema: z.string() } },
    },
  },
  errors: [...JOB_ERRORS, ...QUESTION_ERRORS, 'job_not_finished', 'overloaded'],
  // It shows pictures.
  pages: 'own',
} satisfies Partial<RouteSpec>;

export function reportRoutes(route: AddRoute, parts: RouteParts): void {
  const { jobs } = parts;
  let reports = 0;
  const reply = async (c: AppContext, name: string, reported: ReportedJobs) => {
    if (reports >= MOST_REPORTS) {
      const detail = `${MOST_REPORTS} reports are made already. Ask again later.`;
      throw new LatticeError('overloaded', detail, { retryAfterS: 5 });
    }
    reports += 1;
    try {
      // All have the same upload, or none.
      const draw = pictureDrawer(reported.jobs[0], parts);
      return replyRaw(c, 200, await jobsReport(reported, { ...parts, draw }), {
        'content-type': 'text/html; charset=utf-8',
        'content-disposition': `inline; filename="${name}.report.html"`,
        'content-security-policy': `${REPORT_POLICY}; frame-ancestors 'none'`,
        'cache-control': 'no-store',
      });
    } finally {
      reports -= 1;
    }
  };
  route(
    {
      ...common,
      path: '/v1/jobs/{job_id}/report',
      operationId: 'getJobReport',
      summary: 'A finished job as a page for people',
      description: `One HTML file below 5 MB without script, which loads nothing: ${CONTENT} ${ASKS_AGAIN}`,
      request: { params, query: reportQuerySchema.extend(questionShape) },
    },
    async (c) => {
      const { query, question, ask } = askedRequest(c);
      readQuery(reportQuerySchema, query);
      const { job, images } = await ask(parts);
      if (job.completedAt === null) throw notFinished(job);
      return reply(c, job.jobId, {
        ...{ jobs: [job], run: null, images, keyId: c.get('keyId') },
        counts: await images.countSums(job.jobId, ALL_BOXES),
        question: (await question(parts)) ?? {},
      });
    },
  );
  route(
    {
      ...common,
      path: '/v1/report',
      operationId: 'getReport',
      summary: 'The finished jobs with a tag as one page for people',
      description:
        'The report of a run of several jobs, as that of one job with all their images: one HTML file below 5 MB without ' +
        `script, which loads nothing: ${CONTENT} The jobs have the same type, options and upload (else ` +
        `\`validation_failed\`), and all have ended. ${ASKS_AGAIN}`,
      request: { query: runQuerySchema.extend(questionShape) },
    },
    async (c) => {
      const { query, question, ask } = askedRequest(c);
      const { tag } = readQuery(runQuerySchema, query);
      const keyId = c.get('keyId');
      const [first, ...more] = await endedJobs(jobs, { tag, keyId });
      const { job, images, otherJob } = await ask(parts, first);
      const asked = await question(parts);
      const scope = { jobs: { keyId, tag }, isStored: true };
      return reply(c, 'tag', {
        jobs: [job, ...more.map(otherJob)],
        run: factsOf(tag, [first, ...more]),
        ...{ images, keyId },
        counts: await jobs.countsOf(scope, ALL_BOXES, asked, keyId),
        question: asked ?? {},
      });
    },
  );
}

/** Rejects where there are none or too many, or where one has not ended or has other settings. */
async function endedJobs(
  jobs: Pick<JobService, 'list'>,
  filter: { tag: string; keyId: string | null },
): Promise<[Job, ...Job[]]> {
  const found: Job[] = [];
  for await (const job of listedJobs(jobs, filter)) {
    if (job.completedAt === null) throw notFinished(job);
    if (found.push(job) > MOST_JOBS) {
      throw validationFailed([{ detail: `More than ${MOST_JOBS} jobs have this tag.` }]);
    }
  }
  const [first, ...more] = found;
  if (first === undefined) throw new LatticeError('job_not_found', 'No job has this tag.');
  const settings = settingsKey(first);
  if (more.some((job) => settingsKey(job) !== settings)) {
    const detail =
      'Jobs with this tag have different settings: a report is of jobs of the same type, options and upload.';
    throw validationFailed([{ detail }]);
  }
  return [first, ...more];
}

function settingsKey({ spec: { jobType, options, scoreFloor, upload } }: Job): string {
  return JSON.stringify([jobType, options, scoreFloor, upload]);
}

/** The run has the name that its jobs share, else that of the tag. */
function factsOf(tag: string, jobs: readonly [Job, ...Job[]]): RunFacts {
  const [{ spec }] = jobs;
  const isShared = jobs.every((job) => job.spec.labels.name === spec.labels.name);
  const leftOut: LeftOut = {};
  for (const job of jobs) addLeftOut(leftOut, job.spec.leftOut ?? {});
  const name = isShared ? (spec.labels.name ?? tag) : tag;
  return {
    labels: { ...NO_LABELS, name, tags: [tag] },
    typed: typedPaths(spec.typed.paths),
    ...{ leftOut, network: null },
  };
}
