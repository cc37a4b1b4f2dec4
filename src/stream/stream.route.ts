/** `GET /v1/stream`: the upgrade to a WebSocket. */
import { upgradeWebSocket } from '@hono/node-server';
import type { RouteConfig } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { WebSocket } from 'ws';
import { LatticeError } from '../errors.js';
import { presentedKey } from '../http/api-keys.js';
import type { AppDeps } from '../http/app-deps.js';
import type { AppContext, AppEnv } from '../http/app-env.js';
import type { BrowserAccess } from '../http/browser-access.js';
import { problemResponses } from '../http/problem.schema.js';
import type { RouteTable } from '../http/route-table.js';
import type { EventStream } from './event-stream.js';
import type { StreamClient } from './stream-client.js';

/** Browsers cannot set headers on a socket; they offer the key as a second sub-protocol beside this one. */
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
    ...problemResponses('bad_request', 'forbidden', 'internal_error'),
  },
};

export function addStreamRoute(
  table: RouteTable,
  deps: Pick<AppDeps, 'apiKeys'>,
  events: EventStream,
  access: BrowserAccess,
): void {
  table.add(stream, async (c) => {
    if (c.req.header('upgrade')?.toLowerCase() !== 'websocket') {
      throw new LatticeError('bad_request', 'This route speaks WebSocket only.');
    }
    if (!access.socketAllowed(c.req.header('origin'), c.req.header('host'))) {
      throw new LatticeError('forbidden', 'Pages from this origin may not open a socket.');
    }
    const keyId = ownerOf(c, deps);
    let client: StreamClient | null = null;
    const upgrade = upgradeWebSocket(() => ({
      onOpen: (_event, socket) => {
        if (socket.raw instanceof WebSocket) client = events.connect(socket.raw, keyId);
      },
      onMessage: (event: { data: unknown }) => {
        if (client !== null) void events.receive(client, event.data);
      },
      onClose: () => {
        if (client !== null) events.disconnect(client);
      },
    }));
    const answer = await upgrade(c as Context<AppEnv, string>, () => Promise.resolve());
    if (answer instanceof Response) return answer;
    throw new LatticeError('bad_request', 'The connection cannot be upgraded.');
  });
}

/** Null without authentication; undefined for a missing or unknown key. */
function ownerOf(c: AppContext, deps: Pick<AppDeps, 'apiKeys'>): string | null | undefined {
  if (deps.apiKeys === null) return null;
  const offered = (c.req.header('sec-websocket-protocol') ?? '')
    .split(',')
    .map((protocol) => KEY_PROTOCOL.exec(protocol.trim())?.[1])
    .find((key) => key !== undefined);
  const key = presentedKey((name) => c.req.header(name)) ?? offered;
  return key === undefined ? undefined : deps.apiKeys.find(key)?.keyId;
}
