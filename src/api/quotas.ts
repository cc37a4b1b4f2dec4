/**
 * The quotas: resources that API keys share, one row each. Marks of the key file, refusals, metrics and `GET /v1/usage`
 * follow from the rows; `store/allowances.ts` decides how much of a quota one key may take.
 */

interface QuotaRow {
  /**
   * The kind of limit that a mark of the key file sets. `share`: a part of the service's total, in percent. `number`:
   * an amount, because the service has no total.
   */
  kind: 'share' | 'number';
  unit: 'bytes' | 'jobs' | 'watches' | 'requests per second';
  /** The total that keys share, as a part of a sentence. */
  ofWhat: string;
  /** The things that the quota counts, as a part of a sentence. */
  text: string;
  /** The remedy of a caller who has taken too much. */
  remedy: string;
  /** Seconds after which a refused call may succeed without a change by the caller. */
  retryAfterS: number;
  metric: string;
}

const ROWS = {
  store: {
    kind: 'share',
    unit: 'bytes',
    ofWhat: 'the job store (LATTICE_STORE_MAX_MB)',
    text: 'jobs with their results, and views',
    remedy: 'Remove jobs, or keep fewer.',
    retryAfterS: 5,
    metric: 'lattice_key_store_bytes',
  },
  uploads: {
    kind: 'share',
    unit: 'bytes',
    ofWhat: 'the room for uploads (LATTICE_UPLOADS_MAX_MB)',
    text: 'photos that were sent for jobs',
    remedy: 'Photos go with their jobs: remove jobs or uploads, or send fewer.',
    retryAfterS: 60,
    metric: 'lattice_key_upload_bytes',
  },
  jobs: {
    kind: 'share',
    unit: 'jobs',
    ofWhat: 'the queue (LATTICE_MAX_QUEUED_JOBS)',
    text: 'jobs that have not ended',
    remedy: 'Wait until some of them have ended, or submit more images per job.',
    retryAfterS: 5,
    metric: 'lattice_key_unfinished_jobs',
  },
  watches: {
    kind: 'share',
    unit: 'watches',
    ofWhat: 'the watches that a service has',
    text: 'watched folders',
    remedy: 'Delete one, or give one more paths.',
    retryAfterS: 60,
    metric: 'lattice_key_watches',
  },
  requests: {
    kind: 'number',
    unit: 'requests per second',
    ofWhat: 'requests per second',
    text: 'requests, openings of the event stream and its messages, per second',
    remedy: 'Send fewer per second.',
    retryAfterS: 1,
    metric: 'lattice_key_requests_per_second',
  },
} as const satisfies Record<string, QuotaRow>;

export type QuotaName = keyof typeof ROWS;
export const QUOTAS: Readonly<Record<QuotaName, QuotaRow>> = ROWS;
export const QUOTA_NAMES = Object.keys(ROWS) as [QuotaName, ...QuotaName[]];

/** The value in this unit, for people. */
export function amount(value: number, unit: QuotaRow['unit']): string {
  if (unit === 'bytes') return `${(value / 2 ** 20).toFixed(1)} MiB`;
  return `${Math.floor(value)} ${unit}`;
}
