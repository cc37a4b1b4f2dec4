/** A new watch: which folders, what their images are looked through for, and from when on. */
import type { Watch, WatchCreate } from '../../client/lattice-client.js';
import { JobForm } from '../jobs/job-form.js';
import { Modal } from '../parts/modal.js';
import { service } from '../session/session.js';
import { watchRequest } from './watch-request.js';

interface WatchDialogProps {
  onClose: () => void;
  onAdded: (watch: Watch) => void;
}

export function WatchDialog({ onClose, onAdded }: WatchDialogProps) {
  return (
    <Modal title="New watch" onClose={onClose}>
      <JobForm
        first={<NameField />}
        label="Folders or globs, one per line; they need not be there yet"
        submit="Watch the folders"
        onSubmit={async (fields, text) => {
          const request = watchRequest(fields, {
            name: text('name'),
            settleS: text('settle') === '' ? NaN : Number(text('settle')),
            existing: text('existing') as WatchCreate['existing'],
          });
          onAdded(await service.addWatch(request));
        }}
      >
        <div class="field-pair">
          <label class="field">
            <span>Files that are there already</span>
            <select name="existing">
              <option value="take">Submit them too</option>
              <option value="leave">Leave them until they change</option>
            </select>
          </label>
          <label class="field">
            <span>Seconds at rest before a file counts</span>
            <input name="settle" type="number" min="0.1" max="600" step="any" placeholder="1" />
          </label>
        </div>
      </JobForm>
    </Modal>
  );
}

function NameField() {
  return (
    <label class="field">
      <span>Name of the watch</span>
      <input
        name="name"
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
