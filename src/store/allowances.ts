/** How much of each quota one API key may take, and the refusal of more. */
import { LatticeError } from '../api/errors.js';
import { amount, QUOTAS, type QuotaName } from '../api/quotas.js';

/** The limits that the key file sets for one key: a share from 0 to 1, or a number, by the kind of the quota. */
export type KeyLimits = Readonly<Partial<Record<QuotaName, number>>>;

/** The amount of each resource that the service has. 0: no bound, or none that it knows. */
export type QuotaTotals = Readonly<Record<QuotaName, number>>;

/** How much of a quota one key may take. */
export interface Allowance {
  quota: QuotaName;
  limit: number;
  /**
   * True: the key file sets this limit and it is hard. False: it is a fair share, and the key may borrow beyond it
   * while enough stays free (FREE_TIMES).
   */
  isExplicit: boolean;
}

/**
 * A key may exceed its fair share as long as it has at most this many times what it leaves free: a single key that
 * takes all it may leaves a fifth of the total.
 */
const FREE_TIMES = 4;

/** Limits of the keys that may take something, by their owners. The map is replaced when the key file is read again. */
type ReadLimits = () => ReadonlyMap<string, KeyLimits>;

export class Allowances {
  readonly #keys: ReadLimits | null;
  readonly #totals: QuotaTotals;
  /** Fair shares that were computed for this map of limits. */
  #fair: { keys: ReadonlyMap<string, KeyLimits>; shares: Map<QuotaName, number> } | null = null;

  /** `keys`: null without authentication, where there are no quotas. */
  constructor(keys: ReadLimits | null, totals: QuotaTotals) {
    this.#keys = keys;
    this.#totals = totals;
  }

  /** The amount of the resource that the service has. 0: no bound. */
  total(quota: QuotaName): number {
    return this.#totals[quota];
  }

  /** Null: only the bound of the service limits the owner. An owner whose key was removed has a share of 0. */
  of(quota: QuotaName, owner: string | null): Allowance | null {
    if (this.#keys === null || owner === null) return null;
    const keys = this.#keys();
    const limits = keys.get(owner);
    const explicit = limits?.[quota];
    const total = QUOTAS[quota].kind === 'number' ? 1 : this.#totals[quota];
    if (total === 0) return null;
    if (explicit !== undefined) return { quota, limit: explicit * total, isExplicit: true };
    // A single key shares with nobody.
    if (keys.size === 1 || QUOTAS[quota].kind === 'number') return null;
    const share = limits === undefined ? 0 : this.#fairShare(quota, keys);
    return { quota, limit: share * total, isExplicit: false };
  }

  /** The allowances by owner, of the keys that have one. Null: no key has one. */
  all(quota: QuotaName): Record<string, Allowance> | null {
    const owners = [...(this.#keys?.().keys() ?? [])];
    const found = owners.flatMap((owner) => {
      const allowance = this.of(quota, owner);
      return allowance === null ? [] : [[owner, allowance] as const];
    });
    return found.length === 0 ? null : Object.fromEntries(found);
  }

  /** The part of the total that the explicit limits leave, divided among the keys without one; from 0 to 1. */
  #fairShare(quota: QuotaName, keys: ReadonlyMap<string, KeyLimits>): number {
    if (this.#fair?.keys !== keys) this.#fair = { keys, shares: new Map() };
    const known = this.#fair.shares.get(quota);
    if (known !== undefined) return known;
    const limits = [...keys.values()].map((each) => each[quota]);
    const explicit = limits.filter((limit) => limit !== undefined);
    const left = Math.max(0, 1 - explicit.reduce((sum, limit) => sum + limit, 0));
    const share = left / (limits.length - explicit.length);
    this.#fair.shares.set(quota, share);
    return share;
  }
}

/** The allowances of a service without keys: none. */
export const NO_ALLOWANCES = new Allowances(null, {
  store: 0,
  uploads: 0,
  jobs: 0,
  watches: 0,
  requests: 0,
});

/**
 * Throws `quota_exceeded` where a key that has `used` may not take `more`. `free`: what no key has of the total.
 */
export function refuseExcess(
  allowance: Allowance | null,
  used: number,
  more: number,
  free: () => number,
): void {
  if (allowance === null || used + more <= allowance.limit) return;
  if (!allowance.isExplicit && used + more <= FREE_TIMES * (free() - more)) return;
  throw excess(allowance, used);
}

export function excess({ quota, limit, isExplicit }: Allowance, used: number): LatticeError {
  const { unit, ofWhat, text, remedy, retryAfterS } = QUOTAS[quota];
  const reason = isExplicit
    ? `its limit is ${amount(limit, unit)} (mark '${quota}' of the key file)`
    : `its fair share is ${amount(limit, unit)}, and what is left is for other keys`;
  const detail = `This API key has ${amount(used, unit)} of ${ofWhat}, which counts ${text}: ${reason}. ${remedy}`;
  return new LatticeError('quota_exceeded', detail, { retryAfterS });
}
