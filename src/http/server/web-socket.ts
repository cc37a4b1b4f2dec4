/** The upgrade from HTTP to WebSocket, for every WebSocket route. */
import { upgradeWebSocket } from '@hono/node-server';
import type { Context } from 'hono';
import { WebSocket } from 'ws';
import { LatticeError } from '../../api/errors.js';
import type { AppContext, AppEnv } from '../app-env.js';

/** Many proxies remove both by default. */
const PASS_ON = 'A proxy must pass on the headers Upgrade and Connection.';

/** Rejects with `bad_request` when the request has no valid upgrade to WebSocket. */
export async function upgradeToWebSocket(
  c: AppContext,
  onOpen: (socket: WebSocket) => void,
): Promise<Response> {
  if (c.req.header('upgrade')?.toLowerCase() !== 'websocket') {
    throw new LatticeError(
      'bad_request',
      `This route accepts only WebSocket connections. ${PASS_ON}`,
    );
  }
  // Messages are read from the socket itself: the adaptor would copy each.
  const upgrade = upgradeWebSocket(() => ({
    onOpen: (_event, { raw }) => {
      if (raw instanceof WebSocket) onOpen(raw);
    },
  }));
  const answer = await upgrade(c as Context<AppEnv, string>, () => Promise.resolve());
  // The adaptor answers 500 when the Connection header does not contain Upgrade.
  if (answer instanceof Response && answer.ok) return answer;
  throw new LatticeError('bad_request', `The connection cannot be upgraded. ${PASS_ON}`);
}
