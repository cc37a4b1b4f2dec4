/** The dialog that changes the folders and times of a watch. */
import { useSignal } from '@preact/signals';
import type { Watch } from '../../client/lattice-client.js';
import { Modal } from '../parts/modal.js';
import { Problem } from '../parts/problem.js';
import { service } from '../session/session.js';
import { watchChanges } from './watch-request.js';
import { PATHS_LABEL, TimeFields } from './watch-times-fields.js';

interface WatchChangeDialogProps {
  watch: Watch;
  onClose: () => void;
  onChanged: (watch: Watch) => void;
}

export function WatchChangeDialog({ watch, onClose, onChanged }: WatchChangeDialogProps) {
  const fault = useSignal<unknown>(null);
  const isBusy = useSignal(false);
  const send = async (form: HTMLFormElement): Promise<void> => {
    const given = new FormData(form);
    isBusy.value = true;
    fault.value = null;
    try {
      // The form has no file input, so that every value is a string.
      const changes = watchChanges((name) => given.get(name) as string);
      onChanged(await service.changeWatch(watch.name, changes));
    } catch (error) {
      fault.value = error;
    }
    isBusy.value = false;
  };
  return (
    <Modal title={`Change ${watch.name}`} onClose={onClose}>
      <form
        class="submit-form"
        onSubmit={(event) => {
          event.preventDefault();
          void send(event.currentTarget);
        }}
      >
        <label class="field">
          <span>{PATHS_LABEL}</span>
          <textarea
            name="paths"
            rows={4}
            required
            spellcheck={false}
            defaultValue={watch.paths.join('\n')}
          />
        </label>
        <TimeFields watch={watch} />
        <label class="check">
          <input type="checkbox" name="places" defaultChecked={watch.places === true} />
          Tell when a vehicle stands in a place and when it has left; each folder is one camera
        </label>
        <p class="fine">
          The other options of detection stay as they are. Files that this watch has already
          submitted are not submitted again.
        </p>
        {fault.value !== null && <Problem error={fault.value} />}
        <p class="row submit-foot">
          <button class="primary" disabled={isBusy.value}>
            Change the watch
          </button>
        </p>
      </form>
    </Modal>
  );
}
