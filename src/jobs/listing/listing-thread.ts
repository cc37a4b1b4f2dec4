/** The thread that lists folders: a folder of 100,000 files would hold the event loop of the service. */
import { parentPort, type MessagePort } from 'node:worker_threads';
import { findImages } from './find-images.js';
import type { ListingAnswer, ListingRequest } from './image-lister.js';

async function answer(port: MessagePort, { id, listing }: ListingRequest): Promise<void> {
  let message: ListingAnswer;
  try {
    message = { id, images: await findImages(listing) };
  } catch (error) {
    message = { id, failure: error instanceof Error ? error.message : String(error) };
  }
  port.postMessage(message);
}

function serve(port: MessagePort): void {
  port.on('message', (request: ListingRequest) => {
    void answer(port, request);
  });
}

if (parentPort === null) throw new Error('listing-thread is started as a worker thread only.');
serve(parentPort);
