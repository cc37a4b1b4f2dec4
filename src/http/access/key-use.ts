/** The use that each API key makes of what keys share: the rows of `QUOTAS`, each read from its source. */
import { QUOTA_NAMES, type QuotaName } from '../../api/quotas.js';
import type { Allowance, Allowances } from '../../store/allowances.js';
import type { ServiceStore } from '../../store/service-store.js';
import type { Uploads } from '../../uploads/uploads.js';
import type { Watches } from '../../watches/watches.js';
import type { ApiKeys } from './api-keys.js';

/** The use of one API key. */
export interface KeyUse {
  /** Null without authentication. */
  owner: string | null;
  name: string | null;
  isAdmin: boolean;
  quotas: readonly {
    quota: QuotaName;
    used: number;
    /** Null: the key may take all. */
    allowance: Allowance | null;
    /** The amount of the resource that the service has. 0: no bound. */
    total: number;
  }[];
}

/** Reads the use of these owners; without them of all keys of the file, or of the service where it has none. */
export type ReadKeyUse = (owners?: readonly (string | null)[]) => Promise<KeyUse[]>;

export interface KeyUseParts {
  apiKeys: ApiKeys | null;
  allowances: Allowances;
  store: Pick<ServiceStore, 'storeUse'>;
  uploads: Pick<Uploads, 'taken'>;
  watches: Pick<Watches, 'counts'>;
}

export function createReadKeyUse(parts: KeyUseParts): ReadKeyUse {
  const { apiKeys, allowances } = parts;
  const sources = sourcesOf(parts);
  return async (owners = apiKeys === null ? [null] : [...apiKeys.marks.keys()]) => {
    const read = await Promise.all(
      QUOTA_NAMES.map(async (quota) => [quota, await sources[quota]()] as const),
    );
    return owners.map((owner) => ({
      owner,
      name: owner === null ? null : (apiKeys?.nameOf(owner) ?? owner),
      isAdmin: owner === null || apiKeys?.isAdmin(owner) === true,
      quotas: read.map(([quota, usedBy]) => ({
        quota,
        used: usedBy(owner),
        allowance: allowances.of(quota, owner),
        total: allowances.total(quota),
      })),
    }));
  };
}

type UsedBy = (owner: string | null) => number;

function sourcesOf({
  apiKeys,
  store,
  uploads,
  watches,
}: KeyUseParts): Record<QuotaName, () => UsedBy | Promise<UsedBy>> {
  const ofStore = async (figure: 'bytes' | 'unfinished') => {
    const use = await store.storeUse();
    const byOwner = new Map(use.map((each) => [each.owner, each[figure]]));
    return (owner: string | null) => byOwner.get(owner ?? '') ?? 0;
  };
  return {
    store: () => ofStore('bytes'),
    jobs: () => ofStore('unfinished'),
    uploads: () => {
      const taken = uploads.taken();
      return (owner) => taken.get(owner) ?? 0;
    },
    watches: () => {
      const counts = watches.counts();
      return (owner) => counts.get(owner ?? '') ?? 0;
    },
    requests: () => (owner) => (owner === null ? 0 : (apiKeys?.requestsPerSecond(owner) ?? 0)),
  };
}
