/** A new watch: which folders, what their images are looked through for, and from when on. */
import type { Watch } from '../../client/lattice-client.js';
import { JobForm } from '../jobs/job-form.js';
import { Modal } from '../parts/modal.js';
import { service } from '../session/session.js';
import { watchRequest } from './watch-request.js';
import { TimeFields, PATHS_LABEL } from './watch-times-fields.js';

interface WatchDialogProps {
  onClose: () => void;
  onAdded: (watch: Watch) => void;
}

export function WatchDialog({ onClose, onAdded }: WatchDialogProps) {
  return (
    <Modal title="New watch" onClose={onClose}>
      <JobForm
        first={<NameField />}
        isNamed={false}
        label={PATHS_LABEL}
        submit="Watch the folders"
        onSubmit={async (fields, text) => {
          onAdded(await service.addWatch(watchRequest(fields, text)));
        }}
      >
        <label class="field">
          <span>Files that are there already</span>
          <select name="existing">
            <option value="take">Submit them too</option>
            <option value="leave">Leave them until they change</option>
          </select>
        </label>
        <details>
          <summary>When it works, size of its jobs</summary>
          <TimeFields />
        </details>
      </JobForm>
    </Modal>
  );
}

function NameField() {
  return (
    <label class="field">
      <span>Name of the watch</span>
      <input
        name="watch"
        autofocus
        required
        maxLength={64}
        pattern="[A-Za-z0-9_][A-Za-z0-9_.\-]*"
        title="Letters, digits and _ - . ; it begins with none of - ."
        placeholder="north-gate"
        spellcheck={false}
        autocomplete="off"
      />
    </label>
  );
}
