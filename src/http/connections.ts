/** When an HTTP connection is destroyed. Node closes idle ones and late requests; these are the cases that it leaves open. */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocketServer } from 'ws';

/** After the last byte of its last answer. Without it a client that still sends gets a reset and may lose the answer. */
const LINGER_MS = 1_000;
/** Two probes fail on a client that is gone: the first is answered with a reset, the second finds it. */
const PROBE_MS = 500;

export class Connections {
  readonly #open = new Set<Socket>();

  /** `server.timeout` bounds the time in which a client takes nothing of its answer. */
  constructor(server: Server, sockets: WebSocketServer) {
    server.on('connection', (socket: Socket) => {
      this.#add(socket);
    });
    // With this listener Node destroys no silent connection by itself: most silent clients wait for their answer.
    server.on('timeout', (socket: Socket) => {
      if (answerInHand(socket) === null) socket.destroy();
    });
    Object.assign(server, {
      // A client that has sent its last request may close its side and still read the answer.
      httpAllowHalfOpen: true,
      // `server.close()` calls it. Node's own also destroys connections whose answer is made but not yet sent.
      closeIdleConnections: () => {
        this.closeIdle();
      },
    });
    sockets.on('connection', (_webSocket, { socket }) => {
      this.#open.delete(socket);
    });
  }

  /** WebSockets are not counted. */
  get count(): number {
    return this.#open.size;
  }

  /** Destroys connections that wait for no answer, also those with half a request head. */
  closeIdle(): void {
    for (const socket of this.#open) if (answerInHand(socket) === null) socket.destroy();
  }

  closeAll(): void {
    for (const socket of this.#open) socket.destroy();
  }

  #add(socket: Socket): void {
    this.#open.add(socket);
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
    socket.once('end', () => {
      if (answerInHand(socket) !== null) probe(socket);
    });
  }
}

/** The response that the connection is at, from the end of a request's head until its last byte is sent. */
function answerInHand(socket: Socket & { _httpMessage?: ServerResponse | null }) {
  return socket._httpMessage ?? null;
}

/**
 * A client that is gone and one that has closed its side look the same until something is sent to them. An interim
 * response may be sent to any client of HTTP/1.1; the write fails if the client is gone, and the request is aborted.
 */
function probe(socket: Socket): void {
  const timer = setInterval(() => {
    const answer = answerInHand(socket);
    if (answer === null || answer.headersSent || answer.req.httpVersion !== '1.1') return;
    answer.writeProcessing();
  }, PROBE_MS).unref();
  socket.once('close', () => {
    clearInterval(timer);
  });
}
