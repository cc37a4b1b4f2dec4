/** A view as the service keeps it: regions by name. */
import { LatticeError } from '../api/errors.js';
import type { Region } from '../api/options.js';

export interface ViewContent {
  regions: readonly Region[];
  /** Patterns of paths; relative to the image folder. */
  paths: readonly string[];
}

export interface StoredView extends ViewContent {
  /** The id of the API key; empty without authentication. */
  owner: string;
  name: string;
  /** From 1; grows with every change, also over a deletion. */
  version: number;
  /** Of this version, Unix seconds. */
  storedAt: number;
}

export function viewNotFound(name: string): LatticeError {
  return new LatticeError('view_not_found', `There is no view '${name}', or not in this version.`);
}
