/** One connection of a browser to `/v1/stream`: takes the place of `event-socket.ts` in the package's `browser.js`. */
import type { StreamTarget } from './event-socket.js';
import type { ServerMessage, Subscription } from './follow-events.js';
import { openPageSocket, socketProtocols, type PageSocket } from './page-socket.js';

type OpenSocket = new (url: string, protocols: string[]) => PageSocket;

/** As `OpenEventSocket`. */
export function openEventSocket(
  { baseUrl, headers }: StreamTarget,
  subscription: Subscription,
  signal: AbortSignal | undefined,
): AsyncGenerator<ServerMessage, void> {
  const { WebSocket } = globalThis as unknown as { WebSocket: OpenSocket };
  const key = headers.authorization?.replace('Bearer ', '') ?? null;
  const url = `${baseUrl.replace(/^http/, 'ws')}/v1/stream`;
  return openPageSocket(() => new WebSocket(url, socketProtocols(key)), subscription, signal);
}
