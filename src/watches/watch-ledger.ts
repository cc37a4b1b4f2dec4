/**
 * The calls of the store for watches, for the part above the jobs. Their files are submitted with
 * `JobService.submitFiles`.
 */
import type { ServiceStore } from '../store/service-store.js';

export type WatchLedger = Pick<
  ServiceStore,
  | 'watches'
  | 'addWatch'
  | 'changeWatch'
  | 'watchListed'
  | 'deleteWatch'
  | 'fileVerdicts'
  | 'watchedPaths'
  | 'watchCounts'
  | 'recordHandledFiles'
  | 'moveFiles'
  | 'filesBack'
  | 'filesMissing'
  | 'cameras'
  | 'changeFinding'
  | 'checkCameras'
  | 'openFindings'
  | 'onFilesDone'
>;
