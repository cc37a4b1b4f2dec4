/** How well another job over the same images agrees with this one, model against model. */
import { useEffect, useRef } from 'preact/hooks';
import { compareBoxes } from '../../boxes/changes.js';
import type { ImageFields, JobAgreement, JobQuestion, JobStatus } from '../../client/records.js';
import { AgreementReport } from '../agreement/agreement-report.js';
import { useRepeated } from '../live/use-repeated.js';
import type { Fact } from '../parts/facts.js';
import { Problem } from '../parts/problem.js';
import { Skeleton } from '../parts/skeleton.js';
import type { ShownBox } from '../picture/shown-boxes.js';
import { service } from '../session/session.js';
import { exactPercent, grouped, plural } from '../text/format.js';

interface AgreementProps {
  job: JobStatus;
  other: string;
  question: JobQuestion;
}

export function JobAgreementOf({ job, other, question }: AgreementProps) {
  const asked = useRef(question);
  const { answer, fault, ask } = useRepeated(
    () => service.agreement(job.job_id, other, { question: asked.current }),
    ({ complete }) => complete,
  );
  useEffect(() => {
    if (asked.current === question) return;
    asked.current = question;
    void ask();
  }, [question]);
  const report = answer.value;
  if (report === null) {
    if (fault.value !== null) return <Problem error={fault.value} />;
    return <Skeleton label="Comparing the jobs" lines={5} />;
  }
  return (
    <>
      {fault.value !== null && <Problem error={fault.value} />}
      <p class="fine" role="status">
        {verdictOf(report)}
      </p>
      <AgreementReport
        report={report}
        names={[modelsText(report), modelsText(report.with)]}
        times={[report.first_ms, report.second_ms]}
        images={factsOf(report)}
        read={async ({ index, with_index: there }) =>
          compared(
            await Promise.all([
              imageOf(job.job_id, index, question),
              imageOf(other, there, question),
            ]),
          )
        }
      />
    </>
  );
}

function verdictOf({
  share,
  all,
  complete,
  image_counts: { compared, unread },
}: JobAgreement): string {
  if (compared === 0) {
    return complete ? 'The jobs have no image in common.' : 'No image is compared yet.';
  }
  const sofar = complete ? '' : unread > 0 ? ', as far as the time allowed' : ' so far';
  const on = `on ${plural(compared, 'image')}${sofar}.`;
  if (all.first + all.second === 0) return `Neither has a box ${on}`;
  return `${exactPercent(share)} of the boxes agree ${on}`;
}

const modelsText = ({ models, job_id: jobId }: Pick<JobAgreement, 'models' | 'job_id'>): string =>
  [...new Set(models.map(({ model }) => model))].join(', ') || `job ${jobId.slice(-8)}`;

function factsOf({ image_counts: counts }: JobAgreement): Fact[] {
  const { compared, failed, pending, not_run, only_here, only_there, unread } = counts;
  const left: readonly (readonly [string, number, string])[] = [
    ['Images failed', failed, 'In one of the jobs'],
    ['Images waiting', pending, 'In one of the jobs'],
    ['Images not run', not_run, 'In one of the jobs, which was ended before'],
    ['Only in this job', only_here, 'Images'],
    ['Only in the other', only_there, 'Images'],
    ['Images not read', unread, 'The time was too short'],
  ];
  return [
    ['Images compared', grouped(compared), 'Processed by both jobs'],
    ...left
      .filter(([, count]) => count > 0)
      .map(([name, count, title]): Fact => [name, grouped(count), title]),
  ];
}

const compared = ([first, second]: readonly [ImageFields, ImageFields]) => ({
  size: first.image,
  boxes: compareBoxes(numbered(first), numbered(second)),
});

const numbered = ({ detections }: ImageFields): ShownBox[] =>
  detections.map((detection, id) => ({ ...detection, id }));

async function imageOf(jobId: string, index: number, question: JobQuestion): Promise<ImageFields> {
  const { images } = await service.images(jobId, { offset: index, limit: 1 }, { question });
  const [image] = images;
  if (image?.status === 'ok') return image;
  throw new Error('The image has no boxes any more.');
}
