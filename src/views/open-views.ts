/** The views of a service, within what keys may take of its store. */
import type { Allowances } from '../store/allowances.js';
import type { Config } from '../settings/config.js';
import type { ServiceStore } from '../store/service-store.js';
import { storeAllowances } from '../store/store-allowances.js';
import { Views } from './views.js';

export interface ViewParts {
  config: Pick<Config, 'imageRoots'>;
  store: ServiceStore;
  allowances: Allowances;
}

export function openViews({ config, store, allowances }: ViewParts): Promise<Views> {
  const shares = storeAllowances(store, allowances, allowances.total('store'));
  return Views.open(store, config.imageRoots, shares);
}
