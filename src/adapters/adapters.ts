/** The adapters by the value of LATTICE_COMPAT that starts them. `none`, the default, starts none. */
import type { Config } from '../settings/config.js';
import type { Adapter } from './adapter.js';
import { cvat } from './cvat.js';
import { deepStack } from './deepstack.js';
import { labelStudio } from './label-studio.js';

export const ADAPTERS: Record<Config['compat'], Adapter | null> = {
  none: null,
  deepstack: deepStack,
  'label-studio': labelStudio,
  cvat,
};
