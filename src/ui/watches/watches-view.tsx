/** The watched folders, and what became of their files. */
import { useSignal } from '@preact/signals';
import type { Watch } from '../../client/lattice-client.js';
import { address, goTo } from '../address/location.js';
import { useRepeated, type Repeated } from '../live/use-repeated.js';
import { Button } from '../parts/button.js';
import { Empty } from '../parts/empty.js';
import { lazy } from '../parts/lazy.js';
import { Problem } from '../parts/problem.js';
import { useShortcuts } from '../parts/shortcuts.js';
import { Skeleton } from '../parts/skeleton.js';
import { useNow } from '../parts/use-now.js';
import { service } from '../session/session.js';
import { WatchRow } from './watch-row.js';

/** Loaded when it is opened, because most visits add no watch. */
const WatchDialog = lazy('Opening the form', async () => {
  const { WatchDialog: loaded } = await import('./watch-dialog.js');
  return loaded;
});

const WatchChangeDialog = lazy('Opening the form', async () => {
  const { WatchChangeDialog: loaded } = await import('./watch-change-dialog.js');
  return loaded;
});

export function WatchesView() {
  const list = useRepeated(() => service.watches());
  const { fault, actionFault, ask } = list;
  const isOpen = useSignal(false);
  const changed = useSignal<Watch | null>(null);
  /** A sentence that screen readers say. */
  const said = useSignal('');
  const open = (): void => void (isOpen.value = true);
  useShortcuts('Watches', [{ keys: 'n', title: 'New watch', run: open }]);
  const remove = async (name: string): Promise<void> => {
    if (!(await list.act(service.deleteWatch(name)))) return;
    said.value = `The watch ${name} is removed. Its jobs stay.`;
    // The button that had the focus is gone.
    document.getElementById('main')?.focus();
  };
  return (
    <>
      <div class="jobs-top">
        <h1>Watches</h1>
        <p class="fine watch-said" role="status">
          {said.value}
        </p>
        <Button icon="plus" class="primary" onClick={open}>
          New watch
        </Button>
      </div>
      {actionFault.value !== null && <Problem error={actionFault.value} />}
      {fault.value !== null && (
        <Problem error={fault.value}>
          <Button onClick={() => void ask()}>Try again</Button>
        </Problem>
      )}
      <Rows
        list={list}
        onNew={open}
        onChange={(watch) => (changed.value = watch)}
        onRemove={(name) => void remove(name)}
      />
      {isOpen.value && (
        <WatchDialog
          onClose={() => (isOpen.value = false)}
          onAdded={({ name }) => {
            isOpen.value = false;
            said.value = `The watch ${name} is there.`;
            goTo({ screen: 'watches' }, { name });
            void ask();
          }}
        />
      )}
      {changed.value !== null && (
        <WatchChangeDialog
          watch={changed.value}
          onClose={() => (changed.value = null)}
          onChanged={({ name }) => {
            changed.value = null;
            said.value = `The watch ${name} is changed.`;
            void ask();
          }}
        />
      )}
    </>
  );
}

interface RowsProps {
  list: Repeated<readonly Watch[]>;
  onNew: () => void;
  onChange: (watch: Watch) => void;
  onRemove: (name: string) => void;
}

function Rows({ list, onNew, onChange, onRemove }: RowsProps) {
  const now = useNow(1_000);
  const watches = list.answer.value;
  if (watches === null) {
    return list.fault.value === null ? <Skeleton label="Reading the watches" lines={4} /> : null;
  }
  if (watches.length === 0) {
    return (
      <Empty icon="eye" title="No folder is watched">
        <p>A watch submits the images that come into its folders, each version of a file once.</p>
        <Button icon="plus" class="primary" onClick={onNew}>
          Watch a folder
        </Button>
      </Empty>
    );
  }
  return (
    <ul class="watch-rows" aria-label="Watches">
      {watches.map((watch) => (
        <WatchRow
          key={watch.name}
          watch={watch}
          isNamed={address.value.query.name === watch.name}
          now={now}
          onPause={(paused) => list.act(service.changeWatch(watch.name, { paused }))}
          onChange={() => onChange(watch)}
          onRemove={() => onRemove(watch.name)}
        />
      ))}
    </ul>
  );
}
