/**
 * Answers with their headers as one plain record: node-server writes such an answer without building `Headers`,
 * which costs more than all of routing on the synchronous path.
 */
import type { AppContext } from './app-env.js';
import { streamPieces } from './piece-stream.js';

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
 * Answer with a JSON body that comes in pieces, each asked for when the reader has taken the one before. One piece
 * is answered as `replyJson` does. An error of the first two pieces rejects; a later one breaks the connection off
 * and is told to `onBroken`, and so is a reader that takes nothing for a minute.
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
  return new Response(streamPieces(ready, pieces, onBroken), { status, headers });
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
