/** When an HTTP connection is destroyed. Node closes idle ones and late requests; these are the cases that it leaves open. */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocketServer } from 'ws';
import { networkOf } from '../access/network-of.js';

/** After the last byte of its last answer. Without it a client that still sends gets a reset and may lose the answer. */
const LINGER_MS = 1_000;
/** At a stop, for a client to send the rest of its request or to take what waits for it. */
const STOP_PATIENCE_MS = 2_000;

interface Connection {
  /** Of its client. */
  network: string;
  /** From the end of a request's head until the last byte of its answer is sent. */
  answers: Set<ServerResponse>;
  /** Since when a stop waits for the client. */
  waitsSince: number | null;
}

/** For how many connections there is room, WebSockets included, which are never destroyed for another one. */
export interface Room {
  most: number;
  /** A connection was destroyed because there was no room; `network` is that of its client. */
  onFull(network: string): void;
}

export class Connections {
  readonly #open = new Map<Socket, Connection>();
  /** The same by network, oldest first. */
  readonly #networks = new Map<string, Set<Socket>>();
  readonly #room: Room;
  #stopping = false;

  /** `server.timeout` bounds the time in which a client takes nothing of its answer. */
  constructor(server: Server, sockets: WebSocketServer, room: Room) {
    this.#room = room;
    server.on('connection', (socket: Socket) => {
      this.#add(socket);
      if (this.count + sockets.clients.size > room.most) this.#makeRoom();
    });
    // With this listener Node destroys no silent connection by itself: most silent clients wait for their answer.
    server.on('timeout', (socket: Socket) => {
      if (this.#isIdle(socket)) socket.destroy();
    });
    // `server.close()` calls it. Node's own also destroys connections whose answer is made but not yet sent.
    server.closeIdleConnections = () => {
      this.closeIdle();
    };
    sockets.on('connection', (_webSocket, { socket }) => {
      this.#remove(socket);
    });
  }

  /** WebSockets are not counted. */
  get count(): number {
    return this.#open.size;
  }

  /** To be called with every request, before it is answered. */
  expectAnswer({ socket }: { socket: Socket }, answer: ServerResponse): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.answers.add(answer);
    if (this.#stopping) endAfter(answer);
    answer.once('close', () => {
      connection.answers.delete(answer);
    });
  }

  /** Destroys connections that wait for no answer, also those with half a request head. */
  closeIdle(): void {
    for (const socket of this.#open.keys()) if (this.#isIdle(socket)) socket.destroy();
  }

  /**
   * To be called repeatedly at a stop. Keeps connections on which a request has come whole and its answer is being made;
   * others are destroyed: idle ones at once, those whose client has to send or to take something after a pause.
   */
  closeUnlessWorking(): void {
    if (!this.#stopping) this.#beginStop();
    const now = performance.now();
    for (const [socket, connection] of this.#open) {
      if (isWorking(connection)) connection.waitsSince = null;
      else connection.waitsSince ??= now;
      const { waitsSince } = connection;
      const late = waitsSince !== null && now - waitsSince >= STOP_PATIENCE_MS;
      if (late || this.#isIdle(socket)) socket.destroy();
    }
  }

  #beginStop(): void {
    this.#stopping = true;
    for (const { answers } of this.#open.values()) endAfter([...answers].at(-1));
  }

  closeAll(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }

  #isIdle(socket: Socket): boolean {
    return (this.#open.get(socket)?.answers.size ?? 0) === 0;
  }

  /**
   * Destroys the oldest connection that waits for its client, of the network that has most: many connections of one
   * client take room from itself only. The new one is the last choice.
   */
  #makeRoom(): void {
    const bySize = [...this.#networks].sort(([, one], [, other]) => other.size - one.size);
    for (const [network, sockets] of bySize) {
      for (const socket of sockets) {
        const connection = this.#open.get(socket);
        if (connection === undefined || isWorking(connection)) continue;
        this.#remove(socket);
        socket.destroy();
        this.#room.onFull(network);
        return;
      }
    }
  }

  #remove(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    this.#open.delete(socket);
    const sockets = this.#networks.get(connection.network);
    sockets?.delete(socket);
    if (sockets?.size === 0) this.#networks.delete(connection.network);
  }

  #add(socket: Socket): void {
    const network = networkOf(socket.remoteAddress ?? '');
    this.#open.set(socket, { network, answers: new Set(), waitsSince: null });
    const sockets = this.#networks.get(network) ?? new Set();
    this.#networks.set(network, sockets.add(socket));
    socket.once('close', () => {
      this.#remove(socket);
    });
    // Node leaves a socket that the server has ended open until the client closes it too.
    socket.once('finish', () => {
      setTimeout(() => socket.destroy(), LINGER_MS).unref();
    });
    socket.on('timeout', () => {
      if (socket.writableLength > 0) socket.destroy();
    });
  }
}

/** No request behind it is taken; the client is told. */
function endAfter(answer: ServerResponse | undefined): void {
  if (answer !== undefined) answer.shouldKeepAlive = false;
}

/** The service has the next step: not the client, which has a body to send or an answer to take. */
function isWorking({ answers }: Connection): boolean {
  for (const answer of answers) {
    if (answer.req.complete && !answer.writableEnded && !answer.writableNeedDrain) return true;
  }
  return false;
}
