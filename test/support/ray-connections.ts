/** Stands in for the service: takes the connections of test/support/ray-child.mjs. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { vi } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { HANG_MS } from './eventually.js';

/** One child that has dialled in. */
export interface WorkerConnection {
  worker: string;
  pid: number;
  env: Record<string, string | undefined>;
  nice: number;
  socket: WebSocket;
}

export interface WorkerConnections {
  url: string;
  /** Every connection there has been, oldest first. */
  all: WorkerConnection[];
  open(): WorkerConnection[];
  /** The open connection of a worker once it is not `previous`; rejects if it never is. */
  of(worker: string, previous?: WorkerConnection): Promise<WorkerConnection>;
  /** Resolves when the connection is closed; rejects if it never is. */
  closed(connection: WorkerConnection): Promise<void>;
  stop(): Promise<void>;
}

export async function listenForWorkers(): Promise<WorkerConnections> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const all: WorkerConnection[] = [];
  server.on('connection', (socket) => {
    socket.once('message', (text: Buffer) => {
      all.push({ ...(JSON.parse(text.toString()) as Omit<WorkerConnection, 'socket'>), socket });
    });
  });
  const open = () => all.filter(({ socket }) => socket.readyState === socket.OPEN);
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    all,
    open,
    of: (worker, previous) =>
      vi.waitFor(
        () => {
          const connection = open().find((each) => each.worker === worker);
          if (connection === undefined || connection === previous)
            throw new Error(`${worker} has not dialled`);
          return connection;
        },
        { timeout: HANG_MS, interval: 2 },
      ),
    closed: ({ worker, socket }) =>
      vi.waitFor(
        () => {
          if (socket.readyState !== socket.CLOSED) throw new Error(`${worker} is still connected`);
        },
        { timeout: HANG_MS, interval: 2 },
      ),
    async stop() {
      for (const client of server.clients) client.terminate();
      server.close();
      await once(server, 'close');
    },
  };
}
