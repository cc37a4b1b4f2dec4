/** The switch from HTTP to a WebSocket, for every route that speaks it. */
import { upgradeWebSocket } from '@hono/node-server';
import type { Context } from 'hono';
import { WebSocket } from 'ws';
import { LatticeError } from '../errors.js';
import type { AppContext, AppEnv } from './app-env.js';

/** Many proxies leave both out by default. */
const PASS_ON = 'A proxy has to pass on Upgrade and Connection.';

/** Rejects with `bad_request` when the request asks for no upgrade, or for one that cannot be done. */
export async function upgradeToWebSocket(
  c: AppContext,
  onOpen: (socket: WebSocket) => void,
): Promise<Response> {
  if (c.req.header('upgrade')?.toLowerCase() !== 'websocket') {
    throw new LatticeError('bad_request', `This route speaks WebSocket only. ${PASS_ON}`);
  }
  // Messages are taken from the socket itself: the adaptor would copy each once more.
  const upgrade = upgradeWebSocket(() => ({
    onOpen: (_event, { raw }) => {
      if (raw instanceof WebSocket) onOpen(raw);
    },
  }));
  const answer = await upgrade(c as Context<AppEnv, string>, () => Promise.resolve());
  // The adaptor answers 500 where the request has no upgrade after all: its Connection header does not name one.
  if (answer instanceof Response && answer.ok) return answer;
  throw new LatticeError('bad_request', `The connection cannot be upgraded. ${PASS_ON}`);
}
