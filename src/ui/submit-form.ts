/** The form that submits a job. */
import type { Api } from './api.js';
import { named, setText } from './elements.js';
import { ModelChoice } from './model-choice.js';
import { showProblem } from './problem-view.js';
import { jobRequest, takesClasses } from './requests.js';
import type { JobAccepted, Model } from '../client/records.js';

/** Returns what tells the form the models there are. */
export function openSubmitForm(
  api: Api,
  onAccepted: () => void,
): (models: readonly Model[]) => void {
  const paths = named('submit-paths', HTMLTextAreaElement);
  const type = named('submit-type', HTMLSelectElement);
  const choice = new ModelChoice('submit');
  const priority = named('submit-priority', HTMLInputElement);
  const button = named('submit-button', HTMLButtonElement);
  const status = named('submit-status', HTMLElement);
  const problem = named('submit-problem', HTMLElement);

  const submit = async (): Promise<void> => {
    button.disabled = true;
    setText(status, '');
    problem.replaceChildren();
    try {
      const { model, classes } = choice;
      const fields = { paths: paths.value, type: type.value, priority: priority.valueAsNumber };
      const body = jobRequest({ ...fields, model, classes });
      const { job_id, message } = await api.post<JobAccepted>('/v1/jobs/submit', body);
      setText(status, `${message} ${job_id}`);
      onAccepted();
    } catch (error) {
      showProblem(problem, error);
    } finally {
      button.disabled = false;
    }
  };

  named('submit-form', HTMLFormElement).addEventListener('submit', (submitted) => {
    submitted.preventDefault();
    void submit();
  });
  const onType = (): void => {
    choice.enableClasses(takesClasses(type.value));
  };
  type.addEventListener('change', onType);
  onType();
  return (models) => {
    choice.offer(models);
  };
}
