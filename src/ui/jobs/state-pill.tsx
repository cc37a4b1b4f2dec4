import type { Watch } from '../../client/records.js';
import { Icon, type IconName } from '../parts/icon.js';
import type { ShownState } from './job-table.js';

type PillState = ShownState | Watch['state'];

const ICONS: Record<PillState, IconName> = {
  pending: 'jobs',
  running: 'service',
  completed: 'check',
  failed: 'warning',
  cancelled: 'close',
  active: 'eye',
  listing: 'search',
  paused: 'pause',
  scheduled: 'clock',
  away: 'warning',
};

/** Colour, sign and word: colour alone must not tell. */
export function StatePill({ state }: { state: PillState }) {
  return (
    <span class={`pill ${state}`}>
      <Icon name={ICONS[state]} />
      {state}
    </span>
  );
}
