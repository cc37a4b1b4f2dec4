/** When an HTTP connection is destroyed. Node closes idle ones and late requests; these are the cases that it leaves open. */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocketServer } from 'ws';

/** After the last byte of its last answer. Without it a client that still sends gets a reset and may lose the answer. */
const LINGER_MS = 1_000;
/** At a stop, for a client to send the rest of its request or to take what waits for it. */
const STOP_PATIENCE_MS = 2_000;

type Answer = ServerResponse;

interface Connection {
  /** From the end of a request's head until the last byte of its answer is sent. */
  answers: Set<Answer>;
  /** Since when a stop waits for the client. */
  waitsSince: number | null;
}

export class Connections {
  readonly #open = new Map<Socket, Connection>();
  #stopping = false;

  /** `server.timeout` bounds the time in which a client takes nothing of its answer. */
  constructor(server: Server, sockets: WebSocketServer) {
    server.on('connection', (socket: Socket) => {
      this.#add(socket);
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
      this.#open.delete(socket);
    });
  }

  /** WebSockets are not counted. */
  get count(): number {
    return this.#open.size;
  }

  /** To be called with every request, before it is answered. */
  expectAnswer({ socket }: { socket: Socket }, answer: Answer): void {
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

  #add(socket: Socket): void {
    this.#open.set(socket, { answers: new Set(), waitsSince: null });
    socket.once('close', () => {
      this.#open.delete(socket);
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
function endAfter(answer: Answer | undefined): void {
  if (answer !== undefined) answer.shouldKeepAlive = false;
}

/** The service has the next step: not the client, which has a body to send or an answer to take. */
function isWorking({ answers }: Connection): boolean {
  for (const answer of answers) {
    if (answer.req.complete && !answer.writableEnded && !answer.writableNeedDrain) return true;
  }
  return false;
}
