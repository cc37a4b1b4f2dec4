/** How much of the store each API key may take, as the store is now. */
import type { Allowances } from '../api/quotas.js';
import type { StoreAllowance } from './job-records.js';
import type { ServiceStore } from './service-store.js';

/** Share of the bound of the store: from here on room is made. */
export const ROOM_FROM = 0.9;

/** Null: all. */
export type StoreAllowances = (keyId: string | null) => StoreAllowance | null;

/** `whole`: the bound of the store, in bytes; 0: none. */
export function storeAllowances(
  store: Pick<ServiceStore, 'size'>,
  allowances: Allowances,
  whole: number,
): StoreAllowances {
  return (keyId) => {
    const allowance = allowances.of('store', keyId);
    return allowance && { allowance, whole, isNear: store.size().used > whole * ROOM_FROM };
  };
}
