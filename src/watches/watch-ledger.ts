/** What watches store, as the part above the jobs sees it. Their files are submitted with `JobService.submitFiles`. */
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
  | 'leaveFiles'
  | 'moveFiles'
  | 'filesBack'
  | 'filesMissing'
  | 'onFilesDone'
>;
