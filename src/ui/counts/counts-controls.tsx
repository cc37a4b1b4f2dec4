/** The choices of the view: whose images, when, by what, and with which question. All are in the address. */
import type { ComponentChildren } from 'preact';
import { MOST_CAMERA_PATTERN } from '../../api/job-values.js';
import { setQuery } from '../address/location.js';
import { Button } from '../parts/button.js';
import { ThresholdSlider } from '../picture/threshold-slider.js';
import { ViewSelect } from '../regions/view-select.js';
import { views } from '../regions/views.js';
import { visible } from '../text/format.js';
import {
  CAMERAS,
  COMPARISONS,
  EVENT_GAPS,
  GROUPINGS,
  RANGES,
  STANDING,
  type CountsChoice,
} from './counts-choice.js';
import { countFilter, FIRST_MIN } from './shown-classes.js';
import { hourKey } from './wall-hours.js';

interface CountsControlsProps {
  choice: CountsChoice;
  watches: readonly string[];
  tags: readonly string[];
}

export function CountsControls({ choice, watches, tags }: CountsControlsProps) {
  return (
    <div class="card counts-controls">
      <div class="row">
        <Scope choice={choice} watches={watches} tags={tags} />
        <Select
          label="Range"
          names={RANGES}
          value={choice.range}
          onPick={(range) => setQuery({ range: range === RANGES[0][0] ? '' : range })}
        />
        {choice.range === 'own' && <Bounds names={['from', 'to']} hours={choice.hours} of="" />}
        <Select
          label="Compare with"
          names={COMPARISONS}
          value={choice.compared}
          onPick={(compared) => setQuery({ with: compared })}
        />
        {choice.compared === 'own' && choice.otherHours && (
          <Bounds names={['from2', 'to2']} hours={choice.otherHours} of=" of the comparison" />
        )}
        <View view={choice.view} />
        <Standing {...choice} />
      </div>
      <div class="row">
        <Confidence min={choice.min} />
      </div>
      <ul class="chips" aria-label="Count by">
        {GROUPINGS.map(([by, name]) => (
          <li key={by}>
            <Button
              class="chip by-chip"
              aria-pressed={choice.by === by}
              onClick={() => setQuery({ by: by === GROUPINGS[0][0] ? '' : by })}
            >
              {name}
            </Button>
          </li>
        ))}
      </ul>
      {choice.eventGap !== null && (
        <div class="row">
          <Select
            label="Pictures are one event within"
            names={EVENT_GAPS}
            value={choice.eventGap}
            onPick={(gap) => setQuery({ gap: gap === EVENT_GAPS[0][0] ? '' : gap })}
          />
        </div>
      )}
    </div>
  );
}

type StandingProps = Pick<CountsChoice, 'standing' | 'camera' | 'cameraPattern'>;

function Standing({ standing, camera, cameraPattern }: StandingProps) {
  return (
    <>
      <Select
        label="Vehicles that stand"
        names={STANDING}
        value={standing}
        onPick={(picked) => setQuery({ static: picked === STANDING[0][0] ? '' : picked })}
      />
      {camera !== null && (
        <Select
          label="One camera"
          names={CAMERAS}
          value={camera}
          onPick={(picked) => setQuery({ camera: picked === CAMERAS[0][0] ? '' : picked })}
        />
      )}
      {cameraPattern !== null && (
        <Field label="Pattern of the names">
          <input
            value={cameraPattern}
            maxLength={MOST_CAMERA_PATTERN}
            spellcheck={false}
            autocomplete="off"
            onChange={({ currentTarget }) => setQuery({ pattern: currentTarget.value.trim() })}
          />
        </Field>
      )}
    </>
  );
}

function Scope({ choice: { watch, tag }, watches, tags }: CountsControlsProps) {
  const isUnknown = watch !== '' && !watches.includes(watch);
  return (
    <>
      <Field label="Watch">
        <select
          value={watch}
          onChange={({ currentTarget }) => setQuery({ watch: currentTarget.value })}
        >
          <option value="">Any or none</option>
          {[...watches, ...(isUnknown ? [watch] : [])].map((name) => (
            <option key={name} value={name}>
              {visible(name)}
            </option>
          ))}
        </select>
      </Field>
      <Field label="Tag">
        <input
          list="count-tags"
          value={tag}
          placeholder="any"
          spellcheck={false}
          autocomplete="off"
          onChange={({ currentTarget }) => setQuery({ tag: currentTarget.value.trim() })}
        />
      </Field>
      <datalist id="count-tags">
        {tags.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

interface BoundsProps {
  /** Their names in the address. */
  names: readonly [string, string];
  hours: CountsChoice['hours'];
  of: string;
}

/** Whole hours: minutes that are typed are left out. */
function Bounds({ names: [from, to], hours, of }: BoundsProps) {
  const bound = (label: string, name: string, hour: number | null) => (
    <Field label={`${label}${of}`}>
      <input
        type="datetime-local"
        step={3_600}
        value={hour === null ? '' : `${hourKey(hour)}:00`}
        onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value.slice(0, 13) })}
      />
    </Field>
  );
  return (
    <>
      {bound('From', from, hours.from)}
      {bound('To', to, hours.to)}
    </>
  );
}

function View({ view }: { view: string }) {
  if ((views.value ?? []).length === 0 && view === '') return null;
  return (
    <Field label="Regions">
      <ViewSelect
        none="As each job asked"
        value={view}
        onPick={(name) => setQuery({ view: name })}
      />
    </Field>
  );
}

function Confidence({ min }: Pick<CountsChoice, 'min'>) {
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          checked={min !== null}
          onChange={({ currentTarget }) =>
            setQuery({ min: currentTarget.checked ? String(FIRST_MIN) : '' })
          }
        />
        Another confidence than each job asked
      </label>
      {min !== null && <ThresholdSlider filter={countFilter} />}
    </>
  );
}

interface SelectProps<T extends string> {
  label: string;
  names: readonly (readonly [T, string])[];
  value: T;
  onPick: (name: T) => void;
}

function Select<T extends string>({ label, names, value, onPick }: SelectProps<T>) {
  return (
    <Field label={label}>
      <select value={value} onChange={({ currentTarget }) => onPick(currentTarget.value as T)}>
        {names.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  );
}

const Field = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <label class="field">
    <span>{label}</span>
    {children}
  </label>
);
