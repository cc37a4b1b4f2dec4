/** `GET /v1/stream`: the upgrade to a WebSocket. */
import type { RouteConfig } from '@hono/zod-openapi';
import type { WebSocket } from 'ws';
import { LatticeError } from '../api/errors.js';
import { clientAddress, presentedKey } from '../http/api-keys.js';
import type { AppDeps } from '../http/app-deps.js';
import type { AppContext } from '../http/app-env.js';
import type { BrowserAccess } from '../http/browser-access.js';
import { problemResponses } from '../http/problem.schema.js';
import type { RouteTable } from '../http/route-table.js';
import { upgradeToWebSocket } from '../http/web-socket.js';
import type { EventStream } from './event-stream.js';

/** Browsers cannot set headers for a socket: they offer the key as a second sub-protocol. */
export const SUBPROTOCOL = 'lattice';
const KEY_PROTOCOL = /^bearer\.(\S+)$/;

const stream: RouteConfig = {
  method: 'get',
  path: '/v1/stream',
  operationId: 'stream',
  summary: 'WebSocket: job events, submissions',
  description:
    'Upgrade to WebSocket. The server sends `job_submitted`, `job_completed`, `job_failed`, and on request ' +
    '`job_started`, `job_progress`; the client may send `ping`, `submit`, `subscribe`, `unsubscribe`. With ' +
    'API keys the socket is opened with the usual header, or with the sub-protocols `lattice` and `bearer.KEY`.',
  tags: ['Stream'],
  responses: {
    101: { description: 'Switched to WebSocket' },
    ...problemResponses('bad_request', 'forbidden', 'rate_limited', 'internal_error'),
  },
};

export function addStreamRoute(
  table: RouteTable,
  deps: Pick<AppDeps, 'apiKeys'>,
  events: EventStream,
  access: BrowserAccess,
): void {
  table.add(stream, async (c) => {
    if (!access.originAllowed(c.req.header('origin'), c.req.header('host'))) {
      throw new LatticeError('forbidden', 'Pages from this origin may not open a socket.');
    }
    const keyId = await ownerOf(c, deps);
    return upgradeToWebSocket(c, (socket) => {
      listen(socket, events, keyId);
    });
  });
}

function listen(socket: WebSocket, events: EventStream, keyId: string | null | undefined): void {
  const client = events.connect(socket, keyId);
  if (client === null) return; // refused and closed
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    void events.receive(client, isBinary ? data : data.toString());
  });
  socket.on('close', () => {
    events.disconnect(client);
  });
}

/** Null without authentication; undefined for a missing or unknown key. */
async function ownerOf(
  c: AppContext,
  deps: Pick<AppDeps, 'apiKeys'>,
): Promise<string | null | undefined> {
  if (deps.apiKeys === null) return null;
  const offered = (c.req.header('sec-websocket-protocol') ?? '')
    .split(',')
    .map((protocol) => KEY_PROTOCOL.exec(protocol.trim())?.[1])
    .find((key) => key !== undefined);
  const key = presentedKey((name) => c.req.header(name)) ?? offered;
  if (key === undefined) return undefined;
  return (await deps.apiKeys.owner(key, clientAddress(c)))?.keyId;
}
