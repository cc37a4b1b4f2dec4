/**
 * Builds answers with their headers as one plain object: node-server writes these without creating `Headers`, which
 * takes longer than routing on the synchronous path.
 */
import { ReadableStream as PulledStream, type UnderlyingSource } from 'node:stream/web';
import type { AppContext } from '../app-env.js';

type ExtraHeaders = Record<string, string>;

/** Answer with a JSON body. */
export function replyJson(
  c: AppContext,
  status: number,
  body: unknown,
  extra?: ExtraHeaders,
): Response {
  return replyJsonText(c, status, JSON.stringify(body), extra);
}

/** Answer with a body that is JSON text. */
export function replyJsonText(
  c: AppContext,
  status: number,
  text: string,
  extra?: ExtraHeaders,
): Response {
  return new Response(text, { status, headers: jsonHeaders(c, extra) });
}

/**
 * Answer with a body, JSON unless `extra` says otherwise, that is made in pieces, no faster than it is read. One piece
 * is answered with its length. An error of the first two pieces rejects; a later one breaks the connection off and goes
 * to `onBroken`. A reader that goes away ends `pieces`.
 */
export async function replyPieces(
  c: AppContext,
  status: number,
  pieces: AsyncGenerator<string | Uint8Array, void>,
  onBroken: (error: unknown) => void,
  extra?: ExtraHeaders,
): Promise<Response> {
  const headers = jsonHeaders(c, extra);
  const ready: Uint8Array[] = [];
  while (ready.length < 2) {
    const { done, value } = await pieces.next();
    if (done === true) return new Response(Buffer.concat(ready), { status, headers });
    ready.push(Buffer.from(value));
  }
  if (c.req.method === 'HEAD') {
    await pieces.return();
    return new Response(null, { status, headers });
  }
  const source = pulled(ready, pieces, onBroken);
  // The types of a browser, with which the page is compiled, are others than those of Node.
  const stream: unknown = new PulledStream<Uint8Array>(source, { highWaterMark: 0 });
  return new Response(stream as ReadableStream, { status, headers });
}

/** `rest` is ended also where nothing of the stream was read. */
function pulled(
  ready: Uint8Array[],
  rest: AsyncGenerator<string | Uint8Array, void>,
  onBroken: (error: unknown) => void,
): UnderlyingSource<Uint8Array> {
  let isCancelled = false;
  return {
    async pull(controller) {
      const first = ready.shift();
      if (first !== undefined) {
        controller.enqueue(first);
        return;
      }
      try {
        const { done, value } = await rest.next();
        // The reader has gone away while the piece was made: the stream is closed already, and nothing is broken.
        if (isCancelled) return;
        if (done === true) controller.close();
        else controller.enqueue(Buffer.from(value));
      } catch (error) {
        if (isCancelled) return;
        onBroken(error);
        throw error;
      }
    },
    async cancel() {
      isCancelled = true;
      await rest.return();
    },
  };
}

/** Answer with any other body. */
export function replyRaw(
  c: AppContext,
  status: number,
  body: string | Uint8Array<ArrayBuffer> | null,
  extra: ExtraHeaders,
): Response {
  return new Response(body, { status, headers: { ...c.get('baseHeaders'), ...extra } });
}

function jsonHeaders(c: AppContext, extra?: ExtraHeaders): Record<string, string> {
  const headers = {
    ...c.get('baseHeaders'),
    'content-type': 'application/json',
    'cache-control': 'no-store',
  };
  return extra === undefined ? headers : Object.assign(headers, extra);
}
