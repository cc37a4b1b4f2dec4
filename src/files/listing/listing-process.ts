/**
 * The process that examines folders. A folder of 100,000 files would hold the event loop of the service, and one on a
 * volume that does not answer would keep a thread of the file calls per call, until none is left.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { findImages, isReadable, kindOf } from './find-images.js';
import { readFolderPage } from './folder-page.js';
import type { ListingAnswer, ListingRequest, ListingValue } from './image-lister.js';

/** Until then a listing that makes progress notices that its time has passed. */
const HANGS_AFTER_MS = 500;

function valueFor(request: ListingRequest): Promise<ListingValue> {
  if ('listing' in request) return findImages(request.listing);
  if ('page' in request) return readFolderPage(request.page);
  return 'kindOf' in request ? kindOf(request.kindOf) : isReadable(request.isReadable);
}

async function valueOrFailure(request: ListingRequest): Promise<ListingAnswer> {
  try {
    return { value: await valueFor(request) };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

function answer(request: ListingRequest): Promise<ListingAnswer> {
  const found = valueOrFailure(request);
  if (!('listing' in request)) return found;
  const late = sleep(
    request.listing.withinMs + HANGS_AFTER_MS,
    { hangs: true as const },
    { ref: false },
  );
  return Promise.race([found, late]);
}

process.on('message', (request: ListingRequest) => {
  void answer(request).then((message) => process.send?.(message));
});
// A terminal's signals are for the service; this process ends with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit(0));
