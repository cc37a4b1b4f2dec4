/**
 * The process that examines folders. A folder of 100,000 files would hold the event loop of the service, and one on a
 * volume that does not answer would keep a thread of the file calls per call, until none is left.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileStamps, type StampsQuery } from './file-stamps.js';
import { fileTimes, type TimesQuery } from './file-times.js';
import { findImages, isReadable, kindOf, type Listing, type Place } from './find-images.js';
import { readFolderPage, type FolderQuery } from './folder-page.js';
import { similarPath } from './similar-path.js';

const calls = {
  findImages,
  readFolderPage,
  kindOf,
  isReadable,
  similarPath,
  fileTimes,
  fileStamps,
};
export type ListingCalls = typeof calls;

export interface ListingRequest {
  call: keyof ListingCalls;
  query: Place | Listing | FolderQuery | TimesQuery | StampsQuery;
}

/** `hangs`: the process works, but the file system did not answer in time. */
export type ListingAnswer = { value: unknown } | { failure: string } | { hangs: true };

/** Until then a listing that makes progress notices that its time has passed. */
const HANGS_AFTER_MS = 500;

async function valueOrFailure({ call, query }: ListingRequest): Promise<ListingAnswer> {
  try {
    return { value: await calls[call](query as Listing & FolderQuery & TimesQuery & StampsQuery) };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

function answer(request: ListingRequest): Promise<ListingAnswer> {
  const found = valueOrFailure(request);
  if (!('withinMs' in request.query)) return found;
  const waitMs = request.query.withinMs + HANGS_AFTER_MS;
  const late = sleep(waitMs, { hangs: true as const }, { ref: false });
  return Promise.race([found, late]);
}

process.on('message', (request: ListingRequest) => {
  void answer(request).then((message) => process.send?.(message));
});
// A terminal's signals are for the service; this process ends with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit(0));
