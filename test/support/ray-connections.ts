/** Stands in for the service: takes the connections of test/support/ray-child.mjs. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { vi } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';

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
  /** The open connection of a worker once it is not `previous`; rejects after `timeoutMs`. */
  of(worker: string, previous?: WorkerConnection, timeoutMs?: number): Promise<WorkerConnection>;
  /** Resolves when the connection is closed; rejects after `timeoutMs`. */
  closed(connection: WorkerConnection, timeoutMs?: number): Promise<void>;
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
    of: (worker, previous, timeout = 30_000) =>
      vi.waitFor(
        () => {
          const connection = open().find((each) => each.worker === worker);
          if (connection === undefined || connection === previous)
            throw new Error(`${worker} has not dialled`);
          return connection;
        },
        { timeout, interval: 2 },
      ),
    closed: ({ worker, socket }, timeout = 30_000) =>
      vi.waitFor(
        () => {
          if (socket.readyState !== socket.CLOSED) throw new Error(`${worker} is still connected`);
        },
        { timeout, interval: 2 },
      ),
    async stop() {
      for (const client of server.clients) client.terminate();
      server.close();
      await once(server, 'close');
    },
  };
}
