/**
 * The process that looks at folders. A folder of 100,000 files would hold the event loop of the service, and one on a
 * volume that does not answer would take the threads of its file calls for good, one each, until none is left.
 */
import { findImages } from './find-images.js';
import type { ListingAnswer, ListingRequest } from './image-lister.js';
import { isReadable, kindOf, type PathKind } from './path-kind.js';

function valueFor(request: ListingRequest): Promise<string[] | PathKind | boolean> {
  if ('listing' in request) return findImages(request.listing);
  return 'kindOf' in request ? kindOf(request.kindOf) : isReadable(request.isReadable);
}

async function answer(request: ListingRequest): Promise<ListingAnswer> {
  const { id } = request;
  try {
    return { id, value: await valueFor(request) };
  } catch (error) {
    return { id, failure: error instanceof Error ? error.message : String(error) };
  }
}

process.on('message', (request: ListingRequest) => {
  void answer(request).then((message) => process.send?.(message));
});
// A terminal's signals are for the service; it goes when that has gone.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit(0));
