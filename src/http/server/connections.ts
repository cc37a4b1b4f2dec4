/**
 * When an HTTP connection is destroyed. Node closes idle ones and late requests; these are the cases that it leaves
 * open.
 */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocketServer } from 'ws';
import { networkOf } from '../access/network-of.js';

/**
 * Time that a connection stays after the last byte of its last answer. Otherwise a client that still sends gets a reset
 * and may lose the answer.
 */
const LINGER_MS = 1_000;
/** Time that a stop gives a client to send the rest of its request or to read its answer. */
const STOP_PATIENCE_MS = 2_000;
/**
 * Time from the end of a client's side to the first check whether it still reads; each later pause is twice as long.
 */
const FIRST_PROBE_MS = 500;

interface Connection {
  /** Network of its client. */
  network: string;
  /** Answers from the end of their request's head until their last byte is sent. */
  answers: Set<ServerResponse>;
  /** Since when a stop waits for the client. */
  waitsSince: number | null;
}

/** The limit of connections, with WebSockets, which are never destroyed for another connection. */
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
      // A connection whose requests a new parser reads is known already.
      if (this.#open.has(socket)) return;
      this.#add(socket);
      if (this.count + sockets.clients.size > room.most) this.#makeRoom();
    });
    // With this listener Node destroys no silent connection by itself: most silent clients wait for their answer.
    server.on('timeout', (socket: Socket) => {
      if (this.#isIdle(socket)) socket.destroy();
    });
    // After its last request a client may close its side and still read (RFC 9112, 9.6). Without this option Node takes
    // the client for gone.
    Object.assign(server, { httpAllowHalfOpen: true });
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

  /** Call it with every request, before it is answered. */
  expectAnswer({ socket }: { socket: Socket }, answer: ServerResponse): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.answers.add(answer);
    if (this.#stopping) endAfter(answer);
    answer.once('close', () => {
      connection.answers.delete(answer);
    });
  }

  /** Resolves when the requests that have come on this connection so far are answered, or it is closed. */
  async answered(socket: Socket): Promise<void> {
    const answers = [...(this.#open.get(socket)?.answers ?? [])];
    await Promise.all(answers.map((answer) => new Promise((ended) => answer.once('close', ended))));
  }

  /** Destroys connections that wait for no answer, also those with half a request head. */
  closeIdle(): void {
    for (const socket of this.#open.keys()) if (this.#isIdle(socket)) socket.destroy();
  }

  /**
   * Call it repeatedly at a stop. Keeps connections on which a whole request has come and its answer is being made.
   * Destroys the others: idle ones at once, those whose client has to send or to read something after a pause.
   */
  closeUnlessWorking(): void {
    if (!this.#stopping) this.#beginStop();
    const now = performance.now();
    for (const [socket, connection] of this.#open) {
      if (isWorking(connection)) connection.waitsSince = null;
      else connection.waitsSince ??= now;
      const { waitsSince } = connection;
      const late = waitsSince !== null && now - waitsSince >= STOP_PATIENCE_MS;
      // A connection that has ended is destroyed after `LINGER_MS`.
      if (late || (this.#isIdle(socket) && !socket.writableEnded)) socket.destroy();
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
    const connection: Connection = { network, answers: new Set(), waitsSince: null };
    this.#open.set(socket, connection);
    const sockets = this.#networks.get(network) ?? new Set();
    this.#networks.set(network, sockets.add(socket));
    socket.once('close', () => {
      this.#remove(socket);
      // Node tells only the answer that the connection is at.
      for (const answer of connection.answers) if (answer.socket === null) answer.emit('close');
    });
    socket.once('end', () => {
      probe(socket, connection.answers);
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

/**
 * A client that is gone and one that has closed its side look the same until something is sent to them. Any client of
 * HTTP/1.1 takes an interim response; to one that is gone the first is answered with a reset and the next one fails,
 * which closes the connection. It is 100, since some clients know no other one.
 */
function probe(socket: Socket, answers: Set<ServerResponse>, pauseMs = FIRST_PROBE_MS): void {
  const timer = setTimeout(() => {
    if (socket.destroyed) return;
    for (const answer of answers) {
      const isNext = answer.socket === socket && !answer.headersSent;
      if (isNext && answer.req.httpVersion === '1.1') answer.writeContinue();
    }
    probe(socket, answers, 2 * pauseMs);
  }, pauseMs);
  timer.unref();
}

/**
 * No request behind it is taken; the client is told. Node destroys the connection with the last byte: requests behind
 * it that were not read make that a reset, and the client may lose the answer.
 */
function endAfter(answer: ServerResponse | undefined): void {
  if (answer === undefined) return;
  const { socket } = answer.req;
  answer.shouldKeepAlive = false;
  socket.destroySoon = () => socket.end();
}

/** The service has the next step: not the client, which has a body to send or an answer to take. */
function isWorking({ answers }: Connection): boolean {
  for (const answer of answers) {
    if (answer.req.complete && !answer.writableEnded && !answer.writableNeedDrain) return true;
  }
  return false;
}
