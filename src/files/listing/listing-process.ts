/**
 * The process that examines folders. A folder of 100,000 files would hold the event loop of the service, and one on a
 * volume that does not answer would keep a thread of the file calls per call, until none is left.
 */
import { limitOwnTime } from '../../base/own-time.js';
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

/**
 * `ready`: it can be asked. `begun`: the file system is asked now. `hangs`: the process works, but the file system did
 * not answer in time.
 */
export type FromListing =
  { ready: true } | { begun: true } | { value: unknown } | { failure: string } | { hangs: true };

/** Allowance after `withinMs`: a listing that makes progress has ended itself by then. */
const ALLOWANCE_MS = 500;

function say(message: FromListing): void {
  process.send?.(message);
}

async function valueOrFailure({ call, query }: ListingRequest): Promise<FromListing> {
  try {
    return { value: await calls[call](query as Listing & FolderQuery & TimesQuery & StampsQuery) };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

async function answer(request: ListingRequest): Promise<FromListing> {
  const found = valueOrFailure(request);
  if (!('withinMs' in request.query)) return found;
  const waitMs = request.query.withinMs + ALLOWANCE_MS;
  let endLimit: () => void = () => undefined;
  const late = new Promise<FromListing>((resolve) => {
    endLimit = limitOwnTime(process.pid, waitMs, () => {
      resolve({ hangs: true });
    });
  });
  return Promise.race([found, late]).finally(endLimit);
}

process.on('message', (request: ListingRequest) => {
  say({ begun: true });
  void answer(request).then(say);
});
// A terminal's signals are for the service; this process ends with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit(0));
say({ ready: true });
