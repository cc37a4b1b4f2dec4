/** The panel in which regions are drawn, named and stored. */
import {
  LEAST_POINTS,
  MOST_REGION_NAME,
  REGION_LIMITS,
  ANCHORS,
  type Region,
} from '../../api/region-rules.js';
import { Button } from '../parts/button.js';
import { plural, visible } from '../text/format.js';
import { draftFault, newRegion, withRegion } from './drawn-regions.js';
import {
  changeRegions,
  chosenIndex,
  discard,
  draftCorners,
  drawn,
  faults,
  isEditing,
  shownRegions,
  startDraft,
  viewName,
} from './region-choice.js';
import { closeDraft, takeBackCorner } from './region-handles.js';
import type { ShownCounts } from './region-shapes.js';
import { SavedViews } from './saved-views.js';

interface RegionEditorProps {
  counts: ShownCounts;
  /** Classes of the model. */
  classes: readonly string[];
}

export function RegionEditor({ counts, classes }: RegionEditorProps) {
  return (
    <section class="region-editor" aria-labelledby="regions-title">
      <div class="region-head">
        <h2 id="regions-title">Regions</h2>
        <Button
          onClick={() => {
            draftCorners.value = null;
            isEditing.value = false;
          }}
        >
          Done
        </Button>
      </div>
      {draftCorners.value === null ? <NewRegion /> : <DraftActions />}
      <ul class="region-list" aria-label="Regions">
        {shownRegions.value.map((region, at) => (
          <RegionRow key={at} at={at} region={region} counts={counts} classes={classes} />
        ))}
      </ul>
      {drawn.value !== null && (
        <p class="row">
          <Button class="quiet" onClick={discard}>
            {viewName.value === '' ? 'Remove all' : `Back to the view ${visible(viewName.value)}`}
          </Button>
        </p>
      )}
      <SavedViews />
    </section>
  );
}

function NewRegion() {
  const isFull = shownRegions.value.length >= REGION_LIMITS.regions;
  return (
    <p class="row">
      <Button icon="polygon" class="primary" disabled={isFull} onClick={startDraft}>
        Draw a region
      </Button>
      <Button
        disabled={isFull}
        onClick={() => {
          changeRegions((regions) => [...regions, newRegion(regions)]);
          chosenIndex.value = shownRegions.peek().length - 1;
        }}
      >
        Add a rectangle
      </Button>
    </p>
  );
}

function DraftActions() {
  const corners = draftCorners.value ?? [];
  const fault = draftFault(corners);
  return (
    <>
      <p class="fine">
        Press on the picture for each corner. Press the first corner or Enter to close the region.
      </p>
      <p class="bad" role="alert">
        {fault}
      </p>
      <p class="row">
        <Button class="primary" disabled={corners.length < LEAST_POINTS} onClick={closeDraft}>
          Close the region
        </Button>
        <Button disabled={corners.length === 0} onClick={takeBackCorner}>
          Take back
        </Button>
        <Button onClick={() => (draftCorners.value = null)}>Leave</Button>
      </p>
    </>
  );
}

interface RegionRowProps extends Pick<RegionEditorProps, 'counts' | 'classes'> {
  at: number;
  region: Region;
}

function RegionRow({ at, region, counts, classes }: RegionRowProps) {
  const isChosen = chosenIndex.value === at;
  const count = counts.get(region.name);
  const wrong = faults.value.filter((each) => each.at === at);
  return (
    <li class="region-row">
      <Button
        class="region-name"
        aria-expanded={isChosen}
        onClick={() => (chosenIndex.value = isChosen ? null : at)}
      >
        <span class="box-class">
          {region.name === '' ? 'Without a name' : visible(region.name)}
        </span>
        <span class="fine">
          {region.ignore === true
            ? 'left out'
            : count !== undefined && plural(count, 'box', 'boxes')}
        </span>
      </Button>
      <p class="bad" role="alert">
        {wrong.map(({ message }) => message).join(' ')}
      </p>
      {isChosen && <RegionFields at={at} region={region} classes={classes} />}
    </li>
  );
}

const ANCHOR_TEXTS: Record<(typeof ANCHORS)[number], string> = {
  bottom: 'the middle of its bottom side',
  centre: 'its centre',
};
const SHARE = 'share';
const FIRST_SHARE = 0.5;

function RegionFields({ at, region, classes }: Omit<RegionRowProps, 'counts'>) {
  const set = (changes: Partial<Region>): void =>
    changeRegions((regions) => withRegion(regions, at, changes));
  const anchor = region.anchor ?? ANCHORS[0];
  return (
    <div class="region-fields">
      <label class="field">
        <span>Name</span>
        <input
          value={region.name}
          maxLength={MOST_REGION_NAME}
          required
          spellcheck={false}
          autocomplete="off"
          onInput={({ currentTarget }) => set({ name: currentTarget.value })}
        />
      </label>
      <label class="field">
        <span>A box lies in it with</span>
        <select
          value={typeof anchor === 'number' ? SHARE : anchor}
          onChange={({ currentTarget: { value } }) =>
            set({ anchor: ANCHORS.find((each) => each === value) ?? FIRST_SHARE })
          }
        >
          {ANCHORS.map((each) => (
            <option key={each} value={each}>
              {ANCHOR_TEXTS[each]}
            </option>
          ))}
          <option value={SHARE}>a share of its area</option>
        </select>
      </label>
      {typeof anchor === 'number' && (
        <label class="field">
          <span>Share of the area at least, in percent</span>
          <input
            type="number"
            min="0"
            max="100"
            step="1"
            required
            value={Math.round(anchor * 100)}
            onInput={({ currentTarget: { valueAsNumber: percent } }) => {
              if (percent >= 0 && percent <= 100) set({ anchor: percent / 100 });
            }}
          />
        </label>
      )}
      <ClassChoice region={region} classes={classes} set={set} />
      <label class="check">
        <input
          type="checkbox"
          checked={region.ignore === true}
          onChange={({ currentTarget }) => set({ ignore: currentTarget.checked || undefined })}
        />{' '}
        Leave out what lies in it
      </label>
      <p class="row">
        <Button
          icon="close"
          class="danger"
          onClick={() => {
            chosenIndex.value = null;
            changeRegions((regions) => regions.filter((_, index) => index !== at));
          }}
        >
          Remove the region
        </Button>
      </p>
    </div>
  );
}

interface ClassChoiceProps extends Pick<RegionRowProps, 'region' | 'classes'> {
  set: (changes: Partial<Region>) => void;
}

function ClassChoice({ region, classes, set }: ClassChoiceProps) {
  const named = region.classes ?? [];
  const wanted = new Set(named.map((name) => name.toLowerCase()));
  // A view may have been made for another model.
  const others = named.filter(
    (name) => !classes.some((each) => each.toLowerCase() === name.toLowerCase()),
  );
  const toggle = (name: string, isOn: boolean): void => {
    const rest = named.filter((each) => each.toLowerCase() !== name.toLowerCase());
    const next = isOn ? [...rest, name] : rest;
    set({ classes: next.length === 0 ? undefined : next });
  };
  return (
    <fieldset class="class-choice">
      <legend>Classes; none: all</legend>
      {[...new Set([...classes, ...others])].map((name) => (
        <label key={name} class="check">
          <input
            type="checkbox"
            checked={wanted.has(name.toLowerCase())}
            onChange={({ currentTarget }) => toggle(name, currentTarget.checked)}
          />{' '}
          {visible(name)}
        </label>
      ))}
    </fieldset>
  );
}
