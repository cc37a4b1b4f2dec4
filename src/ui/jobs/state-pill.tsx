import { Icon, type IconName } from '../parts/icon.js';
import type { ShownState } from './job-table.js';

const ICONS: Record<ShownState, IconName> = {
  pending: 'jobs',
  running: 'service',
  completed: 'check',
  failed: 'warning',
  cancelled: 'close',
};

/** Colour, sign and word: colour alone must not tell. */
export function StatePill({ state }: { state: ShownState }) {
  return (
    <span class={`pill ${state}`}>
      <Icon name={ICONS[state]} />
      {state}
    </span>
  );
}
