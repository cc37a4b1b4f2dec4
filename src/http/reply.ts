/**
 * Answers with their headers as one plain record: node-server writes such an answer without building `Headers`,
 * which costs more than all of routing on the synchronous path.
 */
import type { AppContext } from './app-env.js';

type ExtraHeaders = Record<string, string>;

/** Answer with a JSON body. */
export function replyJson(
  c: AppContext,
  status: number,
  body: unknown,
  extra?: ExtraHeaders,
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      ...c.get('baseHeaders'),
      'content-type': 'application/json',
      'cache-control': 'no-store',
      ...extra,
    },
  });
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
