/** Stands in for the service: takes the connections of test/support/ray-child.mjs. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { vi } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';

/** One child that has dialled in. */
export interface Lane {
  worker: string;
  pid: number;
  env: Record<string, string | undefined>;
  nice: number;
  socket: WebSocket;
}

export interface Lanes {
  url: string;
  /** Every lane there has been, oldest first. */
  all: Lane[];
  open(): Lane[];
  /** The open lane of a worker once it is not `previous`; rejects after `timeoutMs`. */
  of(worker: string, previous?: Lane, timeoutMs?: number): Promise<Lane>;
  /** Resolves when the lane is closed; rejects after `timeoutMs`. */
  closed(lane: Lane, timeoutMs?: number): Promise<void>;
  stop(): Promise<void>;
}

export async function listenForLanes(): Promise<Lanes> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const all: Lane[] = [];
  server.on('connection', (socket) => {
    socket.once('message', (text: Buffer) => {
      all.push({ ...(JSON.parse(text.toString()) as Omit<Lane, 'socket'>), socket });
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
          const lane = open().find((each) => each.worker === worker);
          if (lane === undefined || lane === previous) throw new Error(`${worker} has not dialled`);
          return lane;
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
