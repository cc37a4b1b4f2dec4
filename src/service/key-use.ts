/** Use of the shared resources by each API key: the rows of `QUOTAS`, each read from its source. */
import { QUOTA_NAMES, type Allowances, type QuotaName } from '../api/quotas.js';
import type { ApiKeys } from '../http/access/api-keys.js';
import type { KeyUse } from '../http/app-deps.js';

/** Gives what an owner has, which is null without authentication. */
export type UseSources = Record<QuotaName, () => Promise<(owner: string | null) => number>>;

/** Use by these owners. Without `owners`: by all keys of the file, or by the service where it has none. */
export async function readKeyUse(
  keys: ApiKeys | null,
  allowances: Allowances,
  sources: UseSources,
  owners: readonly (string | null)[] = keys === null ? [null] : [...keys.marks.keys()],
): Promise<KeyUse[]> {
  const read = await Promise.all(
    QUOTA_NAMES.map(async (quota) => [quota, await sources[quota]()] as const),
  );
  return owners.map((owner) => ({
    owner,
    name: owner === null ? null : (keys?.nameOf(owner) ?? owner),
    isAdmin: owner === null || keys?.isAdmin(owner) === true,
    quotas: read.map(([quota, usedBy]) => ({
      quota,
      used: usedBy(owner),
      allowance: allowances.of(quota, owner),
      whole: allowances.whole(quota),
    })),
  }));
}
