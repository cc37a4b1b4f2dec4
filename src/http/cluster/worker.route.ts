/** The upgrade by which workers come in. Not in the documentation: no client of the service uses it. */
import { upgradeWebSocket } from '@hono/node-server';
import type { Context } from 'hono';
import { WebSocket } from 'ws';
import type { WorkerGate } from '../../cluster/remote/worker-gate.js';
import { WORKER_PATH } from '../../cluster/wire/frames.js';
import { LatticeError } from '../../errors.js';
import type { AppEnv } from '../app-env.js';
import type { RouteTable } from '../route-table.js';

/** Returns whether a socket is a worker's: those outlive the HTTP server at a stop, until the jobs have drained. */
export function addWorkerRoute(
  { app }: RouteTable,
  gate: WorkerGate,
): (socket: WebSocket) => boolean {
  const sockets = new WeakSet<WebSocket>();
  app.get(WORKER_PATH, async (c) => {
    c.set('route', WORKER_PATH);
    if (c.req.header('upgrade')?.toLowerCase() !== 'websocket') {
      throw new LatticeError('bad_request', 'This route speaks WebSocket only.');
    }
    // A page in a browser could otherwise pose as a worker of a service on this machine.
    if (c.req.header('origin') !== undefined) {
      throw new LatticeError('forbidden', 'Workers are not web pages.');
    }
    if (!gate.admits(c.req.header('authorization'))) {
      throw new LatticeError('unauthorized', 'The worker token is missing or wrong.');
    }
    const upgrade = upgradeWebSocket(() => ({
      onOpen: (_event, { raw }) => {
        if (!(raw instanceof WebSocket)) return;
        sockets.add(raw);
        listen(raw, gate);
      },
    }));
    const answer = await upgrade(c as Context<AppEnv, string>, () => Promise.resolve());
    if (answer instanceof Response) return answer;
    throw new LatticeError('bad_request', 'The connection cannot be upgraded.');
  });
  return (socket) => sockets.has(socket);
}

/** On the socket itself: the adaptor would copy every result once more. */
function listen(socket: WebSocket, gate: WorkerGate): void {
  const connection = gate.connect(socket);
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    connection.receive(isBinary ? data : data.toString());
  });
  socket.on('pong', () => {
    connection.heard();
  });
  socket.on('close', (code, reason) => {
    connection.disconnected(reason.toString() || `The socket closed with ${code}.`);
  });
}
