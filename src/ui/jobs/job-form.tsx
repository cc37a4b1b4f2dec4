/** The form of what jobs are made of: which images, what to look for, and where the result goes. */
import { useSignal, type Signal } from '@preact/signals';
import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { LABELS, type Keep } from '../../api/job-labels.js';
import type { FieldRow } from '../../api/submission-fields.js';
import { splitList } from '../../base/text-list.js';
import type { JobSubmit } from '../../client/lattice-client.js';
import { ImagePicker } from '../images/image-picker.js';
import { models } from '../models/models.js';
import { offeredClasses, usableModels } from '../models/offered-classes.js';
import { OptionFields } from '../options/option-fields.js';
import { WRITTEN_ROWS, writtenOptions } from '../options/written-options.js';
import { Button } from '../parts/button.js';
import { Problem } from '../parts/problem.js';
import { ViewSelect } from '../regions/view-select.js';
import { loadViews, views } from '../regions/views.js';
import { percent, visible } from '../text/format.js';
import {
  FORM_ROWS,
  givenFields,
  JOB_TYPE_TEXTS,
  metadataFault,
  pathLines,
  takesClasses,
  type JobFields,
} from './job-request.js';
import { RowField } from './row-field.js';

type JobType = JobSubmit['job_type'];

/** Choices that are read before the form is sent, because other fields depend on them. */
interface Choice {
  type: Signal<JobType>;
  model: Signal<string>;
  /** Null: that of the model. */
  threshold: Signal<number | null>;
}

interface JobFormProps {
  /** Fields that come before the images. */
  first?: ComponentChildren;
  /** False: its jobs have no name of their own. */
  isNamed?: boolean;
  /** Label of the field of paths. */
  label: string;
  /** Fields that come after what to look for. */
  children?: ComponentChildren;
  /** Text of the button that sends the form. */
  submit: string;
  /** `text` reads a field of `first` or `children`. A rejection is shown. */
  onSubmit: (fields: JobFields, text: (name: string) => string) => Promise<void>;
}

export function JobForm({
  first,
  isNamed = true,
  label,
  children,
  submit,
  onSubmit,
}: JobFormProps) {
  const choice: Choice = {
    type: useSignal<JobType>('detect_vehicles'),
    model: useSignal(''),
    threshold: useSignal<number | null>(null),
  };
  const fault = useSignal<unknown>(null);
  const metadataSaid = useSignal('');
  const isBusy = useSignal(false);
  const paths = useRef<HTMLTextAreaElement>(null);
  const isPicking = useSignal(false);
  useEffect(() => void loadViews(), []);
  const send = async (form: HTMLFormElement): Promise<void> => {
    const given = new FormData(form);
    const text = (name: string): string => textOf(given.get(name));
    metadataSaid.value = metadataFault(text('metadata'));
    if (metadataSaid.value !== '') return;
    isBusy.value = true;
    fault.value = null;
    try {
      await onSubmit(fieldsOf(given, choice), text);
    } catch (error) {
      fault.value = error;
    }
    isBusy.value = false;
  };
  return (
    <>
      <form
        class="submit-form"
        onSubmit={(event) => {
          event.preventDefault();
          void send(event.currentTarget);
        }}
      >
        {first}
        <PathsField
          field={paths}
          label={label}
          autofocus={first === undefined}
          onChoose={() => (isPicking.value = true)}
        />
        <WhatToFind choice={choice} />
        {children}
        <details>
          <summary>Tiles, sizes, thresholds by class</summary>
          <div class="option-fields">
            <OptionFields rows={WRITTEN_ROWS} />
          </div>
        </details>
        <Labels isNamed={isNamed} />
        <MoreFields metadataSaid={metadataSaid.value} />
        {fault.value !== null && <Problem error={fault.value} />}
        <p class="row submit-foot">
          <button class="primary" disabled={isBusy.value}>
            {submit}
          </button>
        </p>
      </form>
      {isPicking.value && (
        <ImagePicker
          title="Choose pictures"
          several
          onClose={() => (isPicking.value = false)}
          onPick={(picked) => {
            isPicking.value = false;
            addPaths(paths.current, picked);
          }}
        />
      )}
    </>
  );
}

function fieldsOf(given: FormData, { type, model, threshold }: Choice): JobFields {
  const text = (name: string): string => textOf(given.get(name));
  return {
    paths: text('paths'),
    type: type.peek(),
    model: chosenModel(model.peek())?.name ?? '',
    classes: given.getAll('classes').map(textOf),
    threshold: threshold.peek(),
    view: text('view'),
    written: writtenOptions(text),
    metadata: text('metadata'),
    labels: {
      name: text('name').trim() || null,
      tags: splitList(text('tags'), ','),
      keep: keepOf(text('keep')),
    },
    ...givenFields(text),
  };
}

/** The first where none of the name can be used. */
function chosenModel(wanted: string) {
  const usable = usableModels(models.value ?? []);
  return usable.find(({ name }) => name === wanted) ?? usable[0];
}

interface PathsFieldProps {
  field: RefObject<HTMLTextAreaElement | null>;
  label: string;
  autofocus: boolean;
  onChoose: () => void;
}

function PathsField({ field, label, autofocus, onChoose }: PathsFieldProps) {
  return (
    <>
      <label class="field">
        <span>{label}</span>
        <textarea
          ref={field}
          name="paths"
          autofocus={autofocus}
          rows={4}
          required
          spellcheck={false}
          placeholder={'2026/11/\n2026/**/gate-*.jpg'}
        />
      </label>
      <p>
        <Button icon="folder" onClick={onChoose}>
          Choose pictures or a folder
        </Button>
      </p>
    </>
  );
}

function addPaths(field: HTMLTextAreaElement | null, picked: readonly string[]): void {
  if (field === null) return;
  field.value = [...new Set([...pathLines(field.value), ...picked])].join('\n');
  field.focus();
}

function WhatToFind({ choice: { type, model, threshold } }: { choice: Choice }) {
  const usable = usableModels(models.value ?? []);
  const chosen = chosenModel(model.value);
  const shownThreshold = threshold.value ?? chosen?.confidence_threshold ?? 0.5;
  return (
    <>
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
        {FORM_ROWS.filter(isUrgency).map((row) => (
          <RowField key={row.name} row={row} />
        ))}
      </div>
      {(views.value ?? []).length > 0 && (
        <label class="field">
          <span>Regions of the view</span>
          <ViewSelect name="view" />
        </label>
      )}
    </>
  );
}

/** The choice of classes. Without one the job type decides. */
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

/** Fields by which the jobs are found again, and how long their results are kept. */
function Labels({ isNamed }: { isNamed: boolean }) {
  return (
    <details>
      <summary>
        {isNamed ? 'Name, tags, how long it is kept' : 'Tags, how long its jobs are kept'}
      </summary>
      <div class="submit-more">
        {isNamed && (
          <label class="field">
            <span>{LABELS.name.label}</span>
            <input name="name" maxLength={LABELS.name.most} autocomplete="off" />
          </label>
        )}
        <div class="field-pair">
          <label class="field">
            <span>Tags, with commas between them</span>
            <input name="tags" placeholder="north, night" autocomplete="off" spellcheck={false} />
          </label>
          <label class="field">
            <span>Results are kept</span>
            <select name="keep">
              <option value="">for the usual time</option>
              <option value="30">for 30 days</option>
              <option value="365">for a year</option>
              <option value="true">until they are deleted</option>
            </select>
          </label>
        </div>
      </div>
    </details>
  );
}

const keepOf = (text: string): Keep =>
  text === 'true' ? true : text === '' ? false : Number(text);

/** Whether the field is the priority, which stands beside the threshold. */
const isUrgency = ({ name }: FieldRow): boolean => name === 'priority';

function MoreFields({ metadataSaid }: { metadataSaid: string }) {
  return (
    <details>
      <summary>Metadata, webhook, drawn copies</summary>
      <div class="submit-more">
        <label class="field">
          <span>Metadata as JSON</span>
          <textarea
            name="metadata"
            rows={2}
            spellcheck={false}
            placeholder={'{"camera": "north"}'}
            aria-describedby="metadata-fault"
          />
        </label>
        <p id="metadata-fault" class="bad" role="alert">
          {metadataSaid}
        </p>
        {FORM_ROWS.filter((row) => !isUrgency(row)).map((row) => (
          <RowField key={row.name} row={row} />
        ))}
      </div>
    </details>
  );
}

const textOf = (value: FormDataEntryValue | null): string =>
  typeof value === 'string' ? value : '';
