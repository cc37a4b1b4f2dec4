/** How much of the store each API key may take, as the store is now. */
import type { Allowances } from './allowances.js';
import type { StoreAllowance } from './job-records.js';
import type { ServiceStore } from './service-store.js';

/** The fraction of the store's bound from which old jobs are removed. */
export const ROOM_FROM = 0.9;

/** Gives what a key may take of the store. Null: all of it. */
export type StoreAllowances = (keyId: string | null) => StoreAllowance | null;

/** `total`: the bound of the store, in bytes; 0: none. */
export function storeAllowances(
  store: Pick<ServiceStore, 'size'>,
  allowances: Allowances,
  total: number,
): StoreAllowances {
  return (keyId) => {
    const allowance = allowances.of('store', keyId);
    return allowance && { allowance, total, isNear: store.size().used > total * ROOM_FROM };
  };
}
