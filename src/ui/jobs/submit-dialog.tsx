/** A new job: which images, what to look for, and where the result goes. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { JobSubmit } from '../../client/lattice-client.js';
import { ImagePicker } from '../images/image-picker.js';
import { models } from '../models/models.js';
import { offeredClasses, usableModels } from '../models/offered-classes.js';
import { OptionFields } from '../options/option-fields.js';
import { WRITTEN_ROWS, writtenOptions } from '../options/written-options.js';
import { Button } from '../parts/button.js';
import { Modal } from '../parts/modal.js';
import { Problem } from '../parts/problem.js';
import { ViewSelect } from '../regions/view-select.js';
import { loadViews, views } from '../regions/views.js';
import { service } from '../session/session.js';
import { percent, visible } from '../text/format.js';
import { JOB_TYPE_TEXTS, jobRequest, metadataFault, takesClasses } from './job-request.js';

type JobType = JobSubmit['job_type'];

interface SubmitDialogProps {
  onClose: () => void;
  onAccepted: (jobId: string) => void;
}

export function SubmitDialog({ onClose, onAccepted }: SubmitDialogProps) {
  const paths = useRef<HTMLTextAreaElement>(null);
  const type = useSignal<JobType>('detect_vehicles');
  const model = useSignal('');
  /** Null: that of the model. */
  const threshold = useSignal<number | null>(null);
  const fault = useSignal<unknown>(null);
  const metadataSaid = useSignal('');
  const isBusy = useSignal(false);
  const isPicking = useSignal(false);
  const usable = usableModels(models.value ?? []);
  const chosen = usable.find(({ name }) => name === model.value) ?? usable[0];
  useEffect(() => void loadViews(), []);
  const shownThreshold = threshold.value ?? chosen?.confidence_threshold ?? 0.5;
  const submit = async (form: HTMLFormElement): Promise<void> => {
    const given = new FormData(form);
    const text = (name: string): string => textOf(given.get(name));
    metadataSaid.value = metadataFault(text('metadata'));
    if (metadataSaid.value !== '') return;
    isBusy.value = true;
    fault.value = null;
    try {
      const body = jobRequest({
        paths: text('paths'),
        type: type.peek(),
        model: chosen?.name ?? '',
        classes: given.getAll('classes').map(textOf),
        threshold: threshold.peek(),
        priority: Number(text('priority')),
        view: text('view'),
        written: writtenOptions(text),
        metadata: text('metadata'),
        callback: text('callback'),
        annotate: given.get('annotate') !== null,
      });
      const { job_id } = await service.submit(body);
      onAccepted(job_id);
    } catch (error) {
      fault.value = error;
    }
    isBusy.value = false;
  };
  const add = (picked: readonly string[]): void => {
    isPicking.value = false;
    const field = paths.current;
    if (field === null) return;
    const lines = field.value.split('\n').filter((line) => line.trim() !== '');
    field.value = [...new Set([...lines, ...picked])].join('\n');
    field.focus();
  };
  return (
    <Modal title="New job" onClose={onClose}>
      <form
        class="submit-form"
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        <label class="field">
          <span>Images, folders or globs, one per line</span>
          <textarea
            ref={paths}
            name="paths"
            autofocus
            rows={4}
            required
            spellcheck={false}
            placeholder={'2026/11/\n2026/**/gate-*.jpg'}
          />
        </label>
        <p>
          <Button icon="folder" onClick={() => (isPicking.value = true)}>
            Choose pictures or a folder
          </Button>
        </p>
        <div class="field-pair">
          <label class="field">
            <span>Look for</span>
            <select
              value={type.value}
              onChange={({ currentTarget }) => (type.value = currentTarget.value as JobType)}
            >
              {JOB_TYPE_TEXTS.map((each) => (
                <option key={each.type} value={each.type}>
                  {each.text}
                </option>
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
        </div>
        {takesClasses(type.value) && (
          <ClassChoice names={offeredClasses(usable, chosen?.name ?? '')} />
        )}
        <div class="field-pair">
          <label class="field">
            <span>
              Confidence at least <b>{percent(shownThreshold)}</b>
            </span>
            <input
              type="range"
              min="0"
              max="100"
              step="5"
              value={Math.round(shownThreshold * 100)}
              onInput={({ currentTarget }) => (threshold.value = currentTarget.valueAsNumber / 100)}
            />
          </label>
          <label class="field">
            <span>Priority, 10 is the most urgent</span>
            <input name="priority" type="number" min="0" max="10" step="1" value="0" required />
          </label>
        </div>
        {(views.value ?? []).length > 0 && (
          <label class="field">
            <span>Regions of the view</span>
            <ViewSelect name="view" />
          </label>
        )}
        <details>
          <summary>Tiles, sizes, thresholds by class</summary>
          <div class="option-fields">
            <OptionFields rows={WRITTEN_ROWS} />
          </div>
        </details>
        <details>
          <summary>Metadata, webhook, drawn copies</summary>
          <div class="submit-more">
            <label class="field">
              <span>Metadata as JSON; its title names the job</span>
              <textarea
                name="metadata"
                rows={2}
                spellcheck={false}
                placeholder={'{"title": "North gate"}'}
                aria-describedby="metadata-fault"
              />
            </label>
            <p id="metadata-fault" class="bad" role="alert">
              {metadataSaid.value}
            </p>
            <label class="field">
              <span>Webhook: the result is sent here</span>
              <input name="callback" type="url" placeholder="https://example.org/hooks/detection" />
            </label>
            <label class="check">
              <input name="annotate" type="checkbox" /> Keep drawn copies of the pictures
            </label>
          </div>
        </details>
        {fault.value !== null && <Problem error={fault.value} />}
        <p class="row submit-foot">
          <button class="primary" disabled={isBusy.value}>
            Submit the job
          </button>
        </p>
      </form>
      {isPicking.value && (
        <ImagePicker
          title="Choose pictures"
          several
          onClose={() => (isPicking.value = false)}
          onPick={add}
        />
      )}
    </Modal>
  );
}

/** None chosen: those of the type. */
function ClassChoice({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <fieldset class="class-choice">
      <legend>Classes; none: those that fit the choice above</legend>
      {names.map((name) => (
        <label key={name} class="check">
          <input type="checkbox" name="classes" value={name} /> {visible(name)}
        </label>
      ))}
    </fieldset>
  );
}

const textOf = (value: FormDataEntryValue | null): string =>
  typeof value === 'string' ? value : '';
