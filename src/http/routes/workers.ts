/** The upgrade by which workers come in. Not in the documentation: no client of the service uses it. */
import type { IncomingMessage } from 'node:http';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { WebSocket } from 'ws';
import type { WorkerGate } from '../../execution/near/worker-gate.js';
import { NODE_HEADER, WORKER_HEADER, WORKER_PATH } from '../../execution/wire/frames.js';
import { LatticeError } from '../../api/errors.js';
import type { AppEnv } from '../app-env.js';
import { upgradeToWebSocket } from '../server/web-socket.js';

/** Returns whether a socket is a worker's: those outlive the HTTP server at a stop, until the jobs have drained. */
export function addWorkerRoute(
  app: OpenAPIHono<AppEnv>,
  gate: WorkerGate,
): (socket: WebSocket) => boolean {
  const sockets = new WeakSet<WebSocket>();
  app.get(WORKER_PATH, (c) => {
    c.set('route', WORKER_PATH);
    // A page in a browser could otherwise pose as a worker of a service on this machine.
    if (c.req.header('origin') !== undefined) {
      throw new LatticeError('forbidden', 'Workers are not web pages.');
    }
    const bindings = c.env as { incoming?: IncomingMessage } | undefined;
    const address = bindings?.incoming?.socket.remoteAddress;
    const caller = {
      authorization: c.req.header('authorization'),
      address,
      workerId: c.req.header(WORKER_HEADER),
      nodeId: c.req.header(NODE_HEADER),
    };
    if (!gate.admits(caller)) {
      throw new LatticeError('unauthorized', 'The worker token is missing or wrong.');
    }
    return upgradeToWebSocket(c, (socket) => {
      sockets.add(socket);
      listen(socket, gate);
    });
  });
  return (socket) => sockets.has(socket);
}

function listen(socket: WebSocket, gate: WorkerGate): void {
  const connection = gate.connect(socket);
  socket.on('message', (data: Buffer) => {
    connection.receive(data.toString());
  });
  socket.on('pong', () => {
    connection.heard();
  });
  socket.on('close', (code, reason) => {
    connection.disconnected(reason.toString() || `The socket closed with ${code}.`);
  });
}
