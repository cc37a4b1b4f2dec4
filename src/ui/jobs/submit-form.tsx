import { useSignal } from '@preact/signals';
import type { JobAccepted } from '../../client/records.js';
import { ALL_CLASSES, offeredClasses, usableModels } from '../models/offered-classes.js';
import { models } from '../models/models.js';
import { Problem } from '../parts/problem.js';
import { api } from '../session/session.js';
import { visible } from '../text/format.js';
import { jobRequest, takesClasses } from './job-request.js';

const TYPES = ['detect_cars', 'detect_vehicles', 'batch_detect'];

export function SubmitForm({ onAccepted }: { onAccepted: () => void }) {
  const type = useSignal('detect_vehicles');
  const model = useSignal('');
  const said = useSignal('');
  const fault = useSignal<unknown>(null);
  const isBusy = useSignal(false);
  const usable = usableModels(models.value ?? []);
  const chosen = usable.find(({ name }) => name === model.value) ?? usable[0];
  const submit = async (form: HTMLFormElement): Promise<void> => {
    isBusy.value = true;
    fault.value = null;
    try {
      const given = new FormData(form);
      const body = jobRequest({
        paths: textOf(given.get('paths')),
        type: type.peek(),
        model: chosen?.name ?? '',
        classes: given.getAll('classes').map(textOf),
        priority: Number(textOf(given.get('priority'))),
      });
      const { job_id, message } = await api.post<JobAccepted>('/v1/jobs/submit', body);
      said.value = `${message} ${job_id}`;
      onAccepted();
    } catch (error) {
      fault.value = error;
    }
    isBusy.value = false;
  };
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        void submit(event.currentTarget);
      }}
    >
      <label class="field grows">
        <span>Images, folders or globs, one per line</span>
        <textarea name="paths" rows={3} required spellcheck={false} />
      </label>
      <label class="field">
        <span>Type</span>
        <select
          value={type.value}
          onChange={({ currentTarget }) => (type.value = currentTarget.value)}
        >
          {TYPES.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>Model</span>
        <select
          value={chosen?.name ?? ''}
          onChange={({ currentTarget }) => (model.value = currentTarget.value)}
        >
          {usable.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>Classes, none: those of the type</span>
        <select name="classes" multiple size={3} disabled={!takesClasses(type.value)}>
          {offeredClasses(usable, chosen?.name ?? '').map((name) => (
            <option key={name} value={name}>
              {name === ALL_CLASSES ? 'all classes' : visible(name)}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>Priority</span>
        <input name="priority" type="number" min="0" max="10" step="1" value="0" required />
      </label>
      <button class="primary" disabled={isBusy.value}>
        Submit
      </button>
      <p role="status">{said.value}</p>
      {fault.value !== null && <Problem error={fault.value} />}
    </form>
  );
}

const textOf = (value: FormDataEntryValue | null): string =>
  typeof value === 'string' ? value : '';
