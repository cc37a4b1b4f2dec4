/** A request body that is read chunk by chunk from Node's own stream: a web stream would copy it. */
import type { IncomingMessage } from 'node:http';
import { finished, Readable } from 'node:stream';
import { LatticeError } from '../../api/errors.js';
import type { AppContext } from '../app-env.js';
import type { ByteReservation } from './bytes-in-hand.js';

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

/** Throws `unsupported_media_type` for a compressed body. */
export function refuseCoding(c: AppContext): void {
  const coding = c.req.header('content-encoding')?.trim().toLowerCase() ?? '';
  if (coding === '' || coding === 'identity') return;
  throw new LatticeError('unsupported_media_type', 'Send the body without Content-Encoding.');
}

/**
 * Calls `onEarlyEnd` with `bad_request` when the client goes away, or is too slow, in the middle of the body. Returns
 * how to stop watching.
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

/** A picture while its bytes arrive: each is copied once, into memory that was counted before. */
export class ArrivingPicture {
  readonly #maxBytes: number;
  readonly #reservation: ByteReservation;
  /** Null when the length of the body is unknown. */
  readonly #whole: Buffer | null;
  readonly #chunks: Buffer[] = [];
  #size = 0;

  /** `bodyBytes`: length of the body that it arrives in, null for a chunked one. Throws `overloaded`. */
  constructor(maxBytes: number, bodyBytes: number | null, reservation: ByteReservation) {
    this.#maxBytes = maxBytes;
    this.#reservation = reservation;
    if (bodyBytes !== null) reservation.add(Math.min(bodyBytes, maxBytes));
    this.#whole = bodyBytes === null ? null : Buffer.allocUnsafe(Math.min(bodyBytes, maxBytes));
  }

  /** Throws `body_too_large` or `overloaded`. */
  add(chunk: Buffer): void {
    const size = this.#size + chunk.length;
    if (size > this.#maxBytes) {
      throw new LatticeError('body_too_large', `The picture exceeds ${this.#maxBytes} bytes.`);
    }
    if (this.#whole === null) {
      // At the end the chunks and the picture made of them are in memory together.
      this.#reservation.add(2 * chunk.length);
      this.#chunks.push(chunk);
    } else chunk.copy(this.#whole, this.#size);
    this.#size = size;
  }

  bytes(): Buffer {
    return this.#whole?.subarray(0, this.#size) ?? Buffer.concat(this.#chunks);
  }
}
