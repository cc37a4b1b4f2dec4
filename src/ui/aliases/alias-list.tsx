/** The aliases of models: what each stands for, made, changed, promoted and taken back. */
import { useSignal } from '@preact/signals';
import type { Alias } from '../../client/records.js';
import { address, setQuery } from '../address/location.js';
import { useRepeated } from '../live/use-repeated.js';
import { loadModels } from '../models/models.js';
import { Button } from '../parts/button.js';
import { lazy } from '../parts/lazy.js';
import { Problem } from '../parts/problem.js';
import { Skeleton } from '../parts/skeleton.js';
import { useNow } from '../parts/use-now.js';
import { service } from '../session/session.js';
import { plural, visible } from '../text/format.js';
import { aliasText } from './alias-request.js';
import { AliasRow } from './alias-row.js';

/** Most visits make no alias. */
const AliasDialog = lazy('Opening the form', async () => {
  const { AliasDialog: loaded } = await import('./alias-dialog.js');
  return loaded;
});

export function AliasList() {
  const { answer, fault, actionFault, ask, act } = useRepeated(() => service.aliases.list());
  const changed = useSignal<Alias | 'new' | null>(null);
  /** A sentence that screen readers say. */
  const said = useSignal('');
  const now = useNow(1_000);
  const all = answer.value;
  /** The list of models has the aliases too. */
  const change = async (work: Promise<Alias | null>): Promise<void> => {
    said.value = '';
    if (await act(work)) {
      const alias = await work;
      said.value = alias === null ? 'The alias is deleted.' : storedText(alias);
    }
    await loadModels();
  };
  return (
    <section aria-label="Aliases">
      <header class="models-head">
        <h2>
          Aliases{' '}
          {all !== null && <span class="fine">{plural(all.length, 'alias', 'aliases')}</span>}
        </h2>
        <Button icon="plus" onClick={() => (changed.value = 'new')}>
          New alias
        </Button>
      </header>
      <p class="fine alias-said" role="status">
        {said.value}
      </p>
      {actionFault.value !== null && <Problem error={actionFault.value} />}
      {fault.value !== null && <Problem error={fault.value} />}
      {all === null && fault.value === null && <Skeleton label="Reading the aliases" lines={1} />}
      {all?.length === 0 && (
        <p class="fine">
          There is none. An alias is a name that requests use in place of a model: a new model is
          tried beside the one that answers, and one call changes which one that is.
        </p>
      )}
      <ul class="alias-rows">
        {all?.map((alias) => (
          <AliasRow
            key={alias.name}
            alias={alias}
            now={now}
            isOpen={address.value.query.agreement === alias.name}
            onOpen={(isOpen) => {
              const isShown = address.peek().query.agreement === alias.name;
              if (isOpen !== isShown) setQuery({ agreement: isOpen ? alias.name : '' });
            }}
            onChange={() => (changed.value = alias)}
            onPromote={() => void change(service.aliases.promote(alias.name))}
            onRollBack={() => void change(service.aliases.rollBack(alias.name))}
            onRemove={() => void change(service.aliases.remove(alias.name).then(() => null))}
          />
        ))}
      </ul>
      {changed.value !== null && (
        <AliasDialog
          alias={changed.value === 'new' ? undefined : changed.value}
          aliases={all ?? []}
          onClose={() => (changed.value = null)}
          onStored={(alias) => {
            changed.value = null;
            said.value = storedText(alias);
            void ask();
            void loadModels();
          }}
        />
      )}
    </section>
  );
}

const storedText = (alias: Alias): string =>
  `${visible(alias.name)}, version ${alias.version}: ${aliasText(alias)}.`;
