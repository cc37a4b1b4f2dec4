/** A request body that is read chunk by chunk from Node's own stream: a web stream would copy it. */
import type { IncomingMessage } from 'node:http';
import { finished, Readable } from 'node:stream';
import { LatticeError } from '../../api/errors.js';
import type { AppContext } from '../app-env.js';

/** The body as it arrives. A request that came over no server has only the stream of the web. */
export function bodyOf(c: AppContext): Readable {
  const bindings = c.env as { incoming?: IncomingMessage } | undefined;
  if (bindings?.incoming !== undefined) return bindings.incoming;
  return Readable.from(c.req.raw.body ?? []);
}

/** Length that the request declares; null for a chunked body. */
export function declaredBytes(c: AppContext): number | null {
  const declared = c.req.header('content-length');
  if (declared === undefined || c.req.header('transfer-encoding') !== undefined) return null;
  return Number(declared);
}

/**
 * Calls `onEarlyEnd` with `bad_request` when the client goes away, or is too slow, in the middle of the body. Returns how to
 * stop watching.
 */
export function watchEnd(body: Readable, onEarlyEnd: (error: LatticeError) => void): () => void {
  return finished(body, { writable: false }, (cause) => {
    if (!(cause instanceof Error)) return;
    onEarlyEnd(new LatticeError('bad_request', 'The body ended early.', { cause }));
  });
}

/** Resolves at the end of the body. Rejects with what `onChunk` throws; the stream then stands still. */
export function readChunks(body: Readable, onChunk: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      stop();
      body.off('data', onData).pause();
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      try {
        onChunk(chunk);
      } catch (error) {
        fail(error as Error);
      }
    };
    const stop = watchEnd(body, fail);
    body.on('data', onData).once('end', resolve);
  });
}
