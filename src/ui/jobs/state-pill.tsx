import type { JobStatus } from '../../client/records.js';
import { Icon, type IconName } from '../parts/icon.js';

const ICONS: Record<JobStatus['status'], IconName> = {
  pending: 'jobs',
  running: 'service',
  completed: 'check',
  failed: 'warning',
};

/** Colour, sign and word: colour alone must not tell. */
export function StatePill({ status }: { status: JobStatus['status'] }) {
  return (
    <span class={`pill ${status}`}>
      <Icon name={ICONS[status]} />
      {status}
    </span>
  );
}
