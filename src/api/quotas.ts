/**
 * The quotas: resources that API keys share, and how much of each one key may take: a row each. Marks of the key file,
 * refusals, metrics and `GET /v1/usage` follow from the rows.
 */
import { LatticeError } from './errors.js';

interface QuotaRow {
  /**
   * `share`: a part of the whole that the service has, in percent. `number`: so many, where the service has no whole.
   */
  kind: 'share' | 'number';
  unit: 'bytes' | 'jobs' | 'watches' | 'requests per second';
  /** The whole that it is a part of, within a sentence. */
  of: string;
  /** The things that count. */
  text: string;
  /** The remedy of a caller who has taken too much. */
  remedy: string;
  /** When a refused call may succeed by itself, in seconds. */
  retryAfterS: number;
  metric: string;
}

const ROWS = {
  store: {
    kind: 'share',
    unit: 'bytes',
    of: 'the job store (LATTICE_STORE_MAX_MB)',
    text: 'jobs with their results, and views',
    remedy: 'Remove jobs, or keep fewer.',
    retryAfterS: 5,
    metric: 'lattice_key_store_bytes',
  },
  uploads: {
    kind: 'share',
    unit: 'bytes',
    of: 'the room for uploads (LATTICE_UPLOADS_MAX_MB)',
    text: 'photos that were sent for jobs',
    remedy: 'Photos go with their jobs: remove jobs or uploads, or send fewer.',
    retryAfterS: 60,
    metric: 'lattice_key_upload_bytes',
  },
  jobs: {
    kind: 'share',
    unit: 'jobs',
    of: 'the queue (LATTICE_MAX_QUEUED_JOBS)',
    text: 'jobs that have not ended',
    remedy: 'Wait until some of them have ended, or submit more images per job.',
    retryAfterS: 5,
    metric: 'lattice_key_unfinished_jobs',
  },
  watches: {
    kind: 'share',
    unit: 'watches',
    of: 'the watches that a service has',
    text: 'watched folders',
    remedy: 'Delete one, or give one more paths.',
    retryAfterS: 60,
    metric: 'lattice_key_watches',
  },
  requests: {
    kind: 'number',
    unit: 'requests per second',
    of: 'requests per second',
    text: 'requests, openings of the event stream and its messages, per second',
    remedy: 'Send fewer per second.',
    retryAfterS: 1,
    metric: 'lattice_key_requests_per_second',
  },
} as const satisfies Record<string, QuotaRow>;

export type QuotaName = keyof typeof ROWS;
export const QUOTAS: Readonly<Record<QuotaName, QuotaRow>> = ROWS;
export const QUOTA_NAMES = Object.keys(ROWS) as [QuotaName, ...QuotaName[]];

/** Quotas of a row of the key file: a share from 0 to 1, or a number. */
export type QuotaMarks = Readonly<Partial<Record<QuotaName, number>>>;

/** The whole of each resource of the service; 0: no bound, or none that it knows. */
export type QuotaWholes = Readonly<Record<QuotaName, number>>;

/** How much of a quota one key may take. */
export interface Allowance {
  quota: QuotaName;
  most: number;
  /** By a mark: it never has more. Else `most` is its fair share, beyond which it may have what `FREE_TIMES` allows. */
  isMarked: boolean;
}

/** A key beyond its fair share leaves free what it has, divided by this: alone it leaves a fifth for the others. */
const FREE_TIMES = 4;

/** The keys that may take something, by their owners, as the key file is now. */
export type KeyMarks = () => ReadonlyMap<string, QuotaMarks>;

export class Allowances {
  readonly #keys: KeyMarks | null;
  readonly #wholes: QuotaWholes;
  /** Shares of keys without a mark; for the key file as it was then. */
  #fair: { keys: ReadonlyMap<string, QuotaMarks>; shares: Map<QuotaName, number> } | null = null;

  /** `keys`: null without authentication, which has no quotas. */
  constructor(keys: KeyMarks | null, wholes: QuotaWholes) {
    this.#keys = keys;
    this.#wholes = wholes;
  }

  /** The whole that the service has of the resource; 0: no bound. */
  whole(quota: QuotaName): number {
    return this.#wholes[quota];
  }

  /** Null: no limit but that of the service. The owner of a key that is gone has no share. */
  of(quota: QuotaName, owner: string | null): Allowance | null {
    if (this.#keys === null || owner === null) return null;
    const keys = this.#keys();
    const marks = keys.get(owner);
    const mark = marks?.[quota];
    const whole = QUOTAS[quota].kind === 'number' ? 1 : this.#wholes[quota];
    if (whole === 0) return null;
    if (mark !== undefined) return { quota, most: mark * whole, isMarked: true };
    if (keys.size === 1 || QUOTAS[quota].kind === 'number') return null;
    const share = marks === undefined ? 0 : this.#fairShare(quota, keys);
    return { quota, most: share * whole, isMarked: false };
  }

  /** Allowances of all keys that have one, by owner; null: there are no quotas of the resource. */
  all(quota: QuotaName): Record<string, Allowance> | null {
    const owners = [...(this.#keys?.().keys() ?? [])];
    const found = owners.flatMap((owner) => {
      const allowance = this.of(quota, owner);
      return allowance === null ? [] : [[owner, allowance] as const];
    });
    return found.length === 0 ? null : Object.fromEntries(found);
  }

  /** The part of the whole that marks leave, divided among the keys without one. */
  #fairShare(quota: QuotaName, keys: ReadonlyMap<string, QuotaMarks>): number {
    if (this.#fair?.keys !== keys) this.#fair = { keys, shares: new Map() };
    const known = this.#fair.shares.get(quota);
    if (known !== undefined) return known;
    const marks = [...keys.values()].map((each) => each[quota]);
    const marked = marks.filter((mark) => mark !== undefined);
    const left = Math.max(0, 1 - marked.reduce((sum, mark) => sum + mark, 0));
    const share = left / (marks.length - marked.length);
    this.#fair.shares.set(quota, share);
    return share;
  }
}

/** As a service without keys has them. */
export const NO_ALLOWANCES = new Allowances(null, {
  store: 0,
  uploads: 0,
  jobs: 0,
  watches: 0,
  requests: 0,
});

/** Throws `quota_exceeded` where a key that has `used` may not take `more`. `free`: what nobody has. */
export function refuseExcess(
  allowance: Allowance | null,
  used: number,
  more: number,
  free: () => number,
): void {
  if (allowance === null || used + more <= allowance.most) return;
  if (!allowance.isMarked && used + more <= FREE_TIMES * (free() - more)) return;
  throw excess(allowance, used);
}

export function excess({ quota, most, isMarked }: Allowance, used: number): LatticeError {
  const { unit, of, text, remedy, retryAfterS } = QUOTAS[quota];
  const limit = isMarked
    ? `its limit is ${amount(most, unit)} (mark '${quota}' of the key file)`
    : `its fair share is ${amount(most, unit)}, and what is left is for other keys`;
  const detail = `This API key has ${amount(used, unit)} of ${of}, which counts ${text}: ${limit}. ${remedy}`;
  return new LatticeError('quota_exceeded', detail, { retryAfterS });
}

export function amount(value: number, unit: QuotaRow['unit']): string {
  if (unit === 'bytes') return `${(value / 2 ** 20).toFixed(1)} MiB`;
  return `${Math.floor(value)} ${unit}`;
}
