/** When an HTTP connection is destroyed. Node closes idle ones and late requests; these are the cases that it leaves open. */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocketServer } from 'ws';

/** After the last byte of its last answer. Without it a client that still sends gets a reset and may lose the answer. */
const LINGER_MS = 1_000;

export class Connections {
  /** Open connections, each with the number of its answers from the end of a request's head until the last byte is sent. */
  readonly #answers = new Map<Socket, number>();

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
      this.#answers.delete(socket);
    });
  }

  /** WebSockets are not counted. */
  get count(): number {
    return this.#answers.size;
  }

  /** To be called with every request, before it is answered. */
  expectAnswer({ socket }: { socket: Socket }, answer: ServerResponse): void {
    this.#change(socket, 1);
    answer.once('close', () => {
      this.#change(socket, -1);
    });
  }

  /** Destroys connections that wait for no answer, also those with half a request head. */
  closeIdle(): void {
    for (const socket of this.#answers.keys()) if (this.#isIdle(socket)) socket.destroy();
  }

  closeAll(): void {
    for (const socket of this.#answers.keys()) socket.destroy();
  }

  #isIdle(socket: Socket): boolean {
    return (this.#answers.get(socket) ?? 0) === 0;
  }

  #change(socket: Socket, by: number): void {
    const count = this.#answers.get(socket);
    if (count !== undefined) this.#answers.set(socket, count + by);
  }

  #add(socket: Socket): void {
    this.#answers.set(socket, 0);
    socket.once('close', () => {
      this.#answers.delete(socket);
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
