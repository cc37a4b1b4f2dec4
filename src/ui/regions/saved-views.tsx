/** The regions that are shown as a view of the service: stored by name, replaced, deleted. */
import { batch, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ConfirmButton } from '../parts/confirm-button.js';
import { Foreign } from '../parts/foreign.js';
import { Problem } from '../parts/problem.js';
import { plural } from '../text/format.js';
import { faults, keepDrawn, shownRegions, showView, used, viewName } from './region-choice.js';
import { deleteView, saveView, viewNamed } from './views.js';

export function SavedViews() {
  const name = useSignal(viewName.peek());
  const fault = useSignal<unknown>(null);
  const said = useSignal('');
  const isBusy = useSignal(false);
  const current = viewName.value;
  useEffect(() => {
    name.value = current;
  }, [current, name]);
  const wanted = name.value.trim();
  const there = viewNamed(wanted);
  const attempt = async (work: () => Promise<string>): Promise<void> => {
    isBusy.value = true;
    fault.value = null;
    said.value = '';
    try {
      said.value = await work();
    } catch (error) {
      fault.value = error;
    }
    isBusy.value = false;
  };
  const save = async (): Promise<string> => {
    const stored = await saveView(wanted, shownRegions.peek());
    if (stored === null) {
      return `The view ${wanted} has changed since it was listed here. Save again to replace it.`;
    }
    // Batched, so that one request follows from all changes.
    batch(() => {
      used.value = stored;
      showView(stored.name);
    });
    return `Stored: version ${stored.version} of ${stored.name}.`;
  };
  const remove = async (): Promise<string> => {
    const regions = shownRegions.peek();
    await deleteView(wanted);
    if (wanted !== current) return `The view ${wanted} is deleted.`;
    keepDrawn(regions);
    return `The view ${wanted} is deleted. Its regions are still drawn here.`;
  };
  return (
    <form
      class="saved-views"
      onSubmit={(event) => {
        event.preventDefault();
        void attempt(save);
      }}
    >
      <label class="field">
        <span>Name of the view</span>
        <input
          value={name.value}
          required
          placeholder="north"
          spellcheck={false}
          autocomplete="off"
          onInput={({ currentTarget }) => (name.value = currentTarget.value)}
        />
      </label>
      {there !== undefined && there.paths.length > 0 && (
        <p class="fine">
          Used for images of <Foreign text={there.paths.join(', ')} />
        </p>
      )}
      <p class="row">
        <button
          class="primary"
          disabled={isBusy.value || shownRegions.value.length === 0 || faults.value.length > 0}
        >
          {there === undefined ? 'Save as a view' : 'Replace the view'}
        </button>
        {there !== undefined && (
          <ConfirmButton
            label="Delete the view"
            title="Delete this view?"
            disabled={isBusy.value}
            onConfirm={() => void attempt(remove)}
          >
            <p>
              The view{' '}
              <b>
                <Foreign text={there.name} />
              </b>{' '}
              with {plural(there.regions.length, 'region')} is deleted for good. Requests that name
              it are refused from then on. Results of jobs stay as they are.
            </p>
          </ConfirmButton>
        )}
      </p>
      <p class="fine" role="status">
        {said.value}
      </p>
      {fault.value !== null && <Problem error={fault.value} />}
    </form>
  );
}
