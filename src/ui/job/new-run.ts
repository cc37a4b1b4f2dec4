/** The images of a job as a new job with the options of a question that its stored boxes cannot answer. */
import { isDefaultVehicles, PARAMETER_ROWS } from '../../api/options.js';
import type { JobSubmit, LatticeClient } from '../../client/lattice-client.js';
import type { JobQuestion, JobStatus, JobSummary } from '../../client/records.js';
import { takesClasses } from '../jobs/job-request.js';

const PAGE = 500;

type Labelled = Pick<JobStatus, 'job_id' | 'name' | 'tags' | 'upload'>;

export async function submitNewRun(
  service: Pick<LatticeClient, 'images' | 'submit'>,
  job: Labelled,
  request: JobSummary['request'],
  question: JobQuestion,
): Promise<string> {
  const paths: string[] = [];
  for (let offset: number | null = 0; offset !== null;) {
    const page: Awaited<ReturnType<typeof service.images>> = await service.images(job.job_id, {
      offset,
      limit: PAGE,
    });
    paths.push(...page.images.map((image) => image.image_path));
    offset = page.next_offset;
  }
  const settings = newRunSettings(request, question);
  const { name, tags, upload } = job;
  return (await service.submit({ ...settings, image_paths: paths, name, tags, upload })).job_id;
}

export function newRunSettings(
  request: JobSummary['request'],
  question: JobQuestion,
): Omit<JobSubmit, 'image_paths'> {
  const { job_type: type, model_name, priority, annotate, places } = request;
  const isOfOwn = takesClasses(type) && !isDefaultVehicles(request.classes ?? null);
  const parameters = PARAMETER_ROWS.map(({ wireName }) => [wireName, request[wireName]] as const);
  // Regions and a view exclude each other: one takes the place of both.
  const isElsewhere = Boolean(question.regions ?? question.view);
  return {
    // A job that looks for cars takes no other classes.
    job_type: question.classes === undefined || takesClasses(type) ? type : 'batch_detect',
    model_name,
    priority,
    annotate,
    places,
    ...Object.fromEntries(parameters),
    ...(isElsewhere && { regions: null, view: null }),
    ...(isOfOwn && request.classes !== undefined && { classes: request.classes }),
    ...(question as Partial<JobSubmit>),
  };
}
