/** An alias: which model answers under its name, and which one is on trial. */
import { useSignal } from '@preact/signals';
import type { Alias } from '../../client/records.js';
import { models } from '../models/models.js';
import { Modal } from '../parts/modal.js';
import { Problem } from '../parts/problem.js';
import { service } from '../session/session.js';
import { visible } from '../text/format.js';
import { aliasModels, aliasPut, percentOf } from './alias-request.js';

const FIRST_SHARE = 0.1;

interface AliasDialogProps {
  /** The alias that is changed; absent: a new one. */
  alias?: Alias | undefined;
  aliases: readonly Alias[];
  onClose: () => void;
  onStored: (alias: Alias) => void;
}

export function AliasDialog({ alias, aliases, onClose, onStored }: AliasDialogProps) {
  const fault = useSignal<unknown>(null);
  const isBusy = useSignal(false);
  const canary = useSignal(alias?.canary?.model ?? '');
  const names = aliasModels(models.value ?? [], aliases, alias);
  const send = async (form: HTMLFormElement): Promise<void> => {
    const given = new FormData(form);
    const textOf = (name: string) => (given.get(name) as string | null)?.trim() ?? '';
    isBusy.value = true;
    fault.value = null;
    try {
      onStored(await service.aliases.put(alias?.name ?? textOf('name'), aliasPut(textOf)));
    } catch (error) {
      fault.value = error;
    }
    isBusy.value = false;
  };
  return (
    <Modal
      title={alias === undefined ? 'New alias' : `Change ${visible(alias.name)}`}
      onClose={onClose}
    >
      <form
        class="submit-form"
        onSubmit={(event) => {
          event.preventDefault();
          void send(event.currentTarget);
        }}
      >
        {alias === undefined && <NameField />}
        <ModelField name="model" label="Model that answers" names={names} chosen={alias?.model} />
        <div class="field-pair">
          <ModelField
            name="canary"
            label="Canary: answers some of the requests in its place"
            names={names}
            chosen={alias?.canary?.model}
            none
            onChoice={(name) => (canary.value = name)}
          />
          <label class="field">
            <span>Share of the canary in percent</span>
            <input
              name="share"
              type="number"
              min={0.01}
              max={100}
              step="any"
              required
              disabled={canary.value === ''}
              defaultValue={percentOf(alias?.canary?.share ?? FIRST_SHARE)}
            />
          </label>
        </div>
        <ModelField
          name="shadow"
          label="Shadow: looks at the same pictures, answers none"
          names={names}
          chosen={alias?.shadow}
          none
        />
        <p class="fine">
          Requests that begin once it is stored use it. Jobs that have begun stay on their model.
        </p>
        {fault.value !== null && <Problem error={fault.value} />}
        <p class="row submit-foot">
          <button class="primary" disabled={isBusy.value}>
            {isBusy.value
              ? 'Loading its models'
              : alias === undefined
                ? 'Make the alias'
                : 'Change the alias'}
          </button>
        </p>
      </form>
    </Modal>
  );
}

function NameField() {
  return (
    <label class="field">
      <span>Name of the alias; that of a model is reached no more</span>
      <input
        name="name"
        autofocus
        required
        placeholder="production"
        spellcheck={false}
        autocomplete="off"
      />
    </label>
  );
}

interface ModelFieldProps {
  name: string;
  label: string;
  names: readonly string[];
  chosen: string | null | undefined;
  /** True: the field may stay empty. */
  none?: boolean;
  onChoice?: (name: string) => void;
}

function ModelField({ name, label, names, chosen, none = false, onChoice }: ModelFieldProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <select
        name={name}
        required={!none}
        onChange={({ currentTarget }) => onChoice?.(currentTarget.value)}
      >
        {none && <option value="">none</option>}
        {names.map((each) => (
          <option key={each} value={each} selected={each === chosen}>
            {visible(each)}
          </option>
        ))}
      </select>
    </label>
  );
}
