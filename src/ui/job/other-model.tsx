/** Runs the images of a job once more with another model, to compare both. */
import { useSignal } from '@preact/signals';
import type { JobStatus } from '../../client/records.js';
import { setQuery } from '../address/location.js';
import { hasEnded } from '../jobs/job-table.js';
import { models } from '../models/models.js';
import { usableModels } from '../models/offered-classes.js';
import { Problem } from '../parts/problem.js';
import { service } from '../session/session.js';
import { plural, visible } from '../text/format.js';

export function OtherModel({ job }: { job: JobStatus }) {
  const fault = useSignal<unknown>(null);
  const isBusy = useSignal(false);
  const names = usableModels(models.value ?? [])
    .map(({ name }) => name)
    .filter((name) => name !== job.model_name);
  if (!hasEnded(job) || names.length === 0) return null;
  const run = async (modelName: string): Promise<void> => {
    isBusy.value = true;
    fault.value = null;
    try {
      const { job_id: other } = await service.retry(job.job_id, { images: 'all', modelName });
      setQuery({ with: other, report: 'agreement' });
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
        void run(new FormData(event.currentTarget).get('model') as string);
      }}
    >
      <label class="row">
        <span class="panel-title">Compare with another model</span>
        <select name="model">
          {names.map((name) => (
            <option key={name} value={name}>
              {visible(name)}
            </option>
          ))}
        </select>
      </label>
      <button
        disabled={isBusy.value}
        title={`A new job of ${plural(job.image_count, 'image')} with the same settings`}
      >
        Run it
      </button>
      {fault.value !== null && <Problem error={fault.value} />}
    </form>
  );
}
