/** The types that the page reads by are no others than those that the service answers by. */
import type { z } from '@hono/zod-openapi';
import { expectTypeOf, test } from 'vitest';
import type { Problem } from '../../src/errors.js';
import type { ClusterStatusBody } from '../../src/http/cluster/cluster.routes.js';
import type { DetectResponseBody } from '../../src/http/inference/detect.schema.js';
import type {
  JobAcceptedBody,
  JobResultBody,
  JobStatusBody,
  jobListSchema,
} from '../../src/http/jobs/job.schema.js';
import type { modelListSchema } from '../../src/http/models/model.schema.js';
import type { JobEventName, JobStatus } from '../../src/jobs/job.js';
import type * as wire from '../../src/ui/wire.js';

test('what the service answers is what the page expects', () => {
  expectTypeOf<Problem>().toExtend<wire.Problem>();
  expectTypeOf<DetectResponseBody>().toExtend<wire.DetectAnswer>();
  expectTypeOf<JobAcceptedBody>().toExtend<wire.JobAccepted>();
  expectTypeOf<JobStatusBody>().toExtend<wire.Job>();
  expectTypeOf<z.infer<typeof jobListSchema>>().toExtend<wire.JobList>();
  expectTypeOf<JobResultBody>().toExtend<wire.JobResult>();
  expectTypeOf<z.infer<typeof modelListSchema>>().toExtend<{ models: wire.Model[] }>();
  expectTypeOf<ClusterStatusBody>().toExtend<wire.ClusterStatus>();
  expectTypeOf<JobStatus>().toEqualTypeOf<wire.JobState>();
  expectTypeOf<JobEventName>().toEqualTypeOf<wire.JobEventName>();
});
