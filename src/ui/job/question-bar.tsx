/** Says that what the page shows is not what the job asked, and leads back; says why a question is refused. */
import { useSignal } from '@preact/signals';
import { shownOption } from '../../api/option-kinds.js';
import { QUESTION_ROWS } from '../../api/question.js';
import type { JobQuestion } from '../../client/records.js';
import { ServiceError } from '../../client/service-error.js';
import { goTo } from '../address/location.js';
import { Button } from '../parts/button.js';
import { Problem } from '../parts/problem.js';
import { service } from '../session/session.js';
import { visible } from '../text/format.js';
import type { JobRecord } from './job-record.js';
import { submitNewRun } from './new-run.js';
import { isOwnQuestion } from './question.js';
import { chooseOwn, chosenQuestion } from './question-choice.js';

export function QuestionBar({ record }: { record: JobRecord }) {
  const asked = record.asked.value ?? {};
  const refusal = record.refusal.value;
  const isOwn = isOwnQuestion(asked);
  return (
    <section class="question-bar" aria-label="Question" hidden={isOwn && refusal === null}>
      {refusal !== null && (
        <Problem error={refusal}>{isNewRun(refusal) && <NewRun record={record} />}</Problem>
      )}
      <p role="status">
        {refusal !== null ? (
          <>
            <b>Still shown:</b> {isOwn ? 'what the job asked' : questionText(asked)}.
          </>
        ) : (
          !isOwn && (
            <>
              <b>This is another question than the job’s:</b> {questionText(asked)}.{' '}
              <span class="fine">
                Figures, images and downloads follow it; the job, its events and its webhook stay as
                they are.
              </span>
            </>
          )
        )}
      </p>
      <Button class="primary" onClick={chooseOwn}>
        Back to the job’s own question
      </Button>
    </section>
  );
}

const isNewRun = (refusal: unknown): boolean =>
  refusal instanceof ServiceError && refusal.code === 'needs_new_run';

function NewRun({ record }: { record: JobRecord }) {
  const fault = useSignal<unknown>(null);
  const isBusy = useSignal(false);
  const run = async (): Promise<void> => {
    const [job, own] = [record.job.peek(), record.own.peek()];
    if (job === null || own === null) return;
    isBusy.value = true;
    fault.value = null;
    try {
      const jobId = await submitNewRun(service, job, own.request, chosenQuestion.peek());
      goTo({ screen: 'job', jobId });
    } catch (error) {
      fault.value = error;
    }
    isBusy.value = false;
  };
  return (
    <>
      <Button icon="retry" disabled={isBusy.value} onClick={() => void run()}>
        Run its images as a new job
      </Button>
      {fault.value !== null && <Problem error={fault.value} />}
    </>
  );
}

function questionText({ classes, ...fields }: JobQuestion): string {
  const options = QUESTION_ROWS.flatMap(({ kind, label, wireName }) => {
    const value = (fields as Record<string, unknown>)[wireName];
    return value === undefined ? [] : [`${label} ${shownOption(kind, value)}`];
  });
  return visible(
    [...options, ...(classes === undefined ? [] : [`Classes ${classes.join(', ')}`])].join('; '),
  );
}
