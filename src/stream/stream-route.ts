/** `GET /v1/stream`: the upgrade to a WebSocket. */
import type { WebSocket } from 'ws';
import { eventsSent } from '../api/events.js';
import { presentedOwner, type ApiKeys } from '../http/access/api-keys.js';
import type { AppContext } from '../http/app-env.js';
import type { AddRoute } from '../http/route.js';
import type { RouteParts } from '../http/route-parts.js';
import { upgradeToWebSocket } from '../http/server/web-socket.js';
import type { EventStream } from './event-stream.js';

/** The route checks its key itself and refuses by close code, which a browser can read. */
export const STREAM_PATH = '/v1/stream';
/** Browsers cannot set headers for a socket: they offer the key as a second sub-protocol. */
const KEY_PROTOCOL = /^bearer\.(\S+)$/;

const namesOf = (byDefault: boolean) =>
  eventsSent(byDefault)
    .map((name) => `\`${name}\``)
    .join(', ');

export function streamRoute(route: AddRoute, { apiKeys }: RouteParts, events: EventStream): void {
  route(
    {
      method: 'get',
      path: STREAM_PATH,
      operationId: 'stream',
      summary: 'WebSocket: job events, submissions',
      description:
        `Upgrade to WebSocket. The server sends ${namesOf(true)}, and on request ${namesOf(false)}; ` +
        'the client may send `ping`, `submit`, `subscribe`, `unsubscribe`. With ' +
        'API keys the socket is opened with the usual header, or with the sub-protocols `lattice` and `bearer.KEY`.',
      tags: ['Stream'],
      answers: { 101: { description: 'Switched to WebSocket' } },
      pages: 'detects',
      errors: ['bad_request', 'rate_limited'],
    },
    async (c) => {
      const keyId = await ownerOfSocket(c, apiKeys);
      const isForeign = c.get('foreignPage');
      return upgradeToWebSocket(c, (socket) => {
        listen(socket, events, { keyId, isForeign });
      });
    },
  );
}

function listen(
  socket: WebSocket,
  events: EventStream,
  sender: Parameters<EventStream['connect']>[1],
): void {
  const client = events.connect(socket, sender);
  if (client === null) return; // refused and closed
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    void events.receive(client, isBinary ? data : data.toString());
  });
  socket.on('close', () => {
    events.disconnect(client);
  });
}

/** Null without authentication; undefined for a missing or unknown key. */
async function ownerOfSocket(
  c: AppContext,
  apiKeys: ApiKeys | null,
): Promise<string | null | undefined> {
  if (apiKeys === null) return null;
  const offered = (c.req.header('sec-websocket-protocol') ?? '')
    .split(',')
    .map((protocol) => KEY_PROTOCOL.exec(protocol.trim())?.[1])
    .find((key) => key !== undefined);
  return (await presentedOwner(c, apiKeys, offered)) ?? undefined;
}
