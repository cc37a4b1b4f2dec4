/**
 * Builds answers with their headers as one plain object: node-server writes these without creating `Headers`, which
 * takes longer than routing on the synchronous path.
 */
import { ReadableStream as PulledStream } from 'node:stream/web';
import type { AppContext } from './app-env.js';

type ExtraHeaders = Record<string, string>;

/** Answer with a JSON body. */
export function replyJson(
  c: AppContext,
  status: number,
  body: unknown,
  extra?: ExtraHeaders,
): Response {
  return new Response(JSON.stringify(body), { status, headers: jsonHeaders(c, extra) });
}

/**
 * Answer with a JSON body that is made in pieces, no faster than it is read. One piece is answered as `replyJson` does.
 * An error of the first two pieces rejects; a later one breaks the connection off and goes to `onBroken`. A reader
 * that goes away ends `pieces`.
 */
export async function replyJsonPieces(
  c: AppContext,
  status: number,
  pieces: AsyncGenerator<string, void>,
  onBroken: (error: unknown) => void,
): Promise<Response> {
  const headers = jsonHeaders(c);
  const ready: string[] = [];
  while (ready.length < 2) {
    const { done, value } = await pieces.next();
    if (done === true) return new Response(ready.join(''), { status, headers });
    ready.push(value);
  }
  // The types of a browser, with which the page is compiled, lack `from`.
  const bytes = PulledStream.from(bytesOf(ready, pieces, onBroken)) as unknown as ReadableStream;
  return new Response(bytes, { status, headers });
}

async function* bytesOf(
  ready: readonly string[],
  rest: AsyncGenerator<string, void>,
  onBroken: (error: unknown) => void,
): AsyncGenerator<Uint8Array, void> {
  try {
    for (const piece of ready) yield Buffer.from(piece);
    for await (const piece of rest) yield Buffer.from(piece);
  } catch (error) {
    onBroken(error);
    throw error;
  }
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
  return {
    ...c.get('baseHeaders'),
    'content-type': 'application/json',
    'cache-control': 'no-store',
    ...extra,
  };
}
