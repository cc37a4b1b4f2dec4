/** A client of `/v1/stream` that keeps what it received. */
import { once } from 'node:events';
import { WebSocket, type ClientOptions } from 'ws';
import { HANG_MS } from '../support/eventually.js';

export interface Message {
  event: string;
  id?: string | number;
  job_id?: string;
  status?: string;
  timestamp: number;
  seq?: number;
  progress?: number;
  after_seq?: number;
  error?: { code: string; status: number; detail: string; errors?: { pointer?: string }[] };
}

export class StreamConnection {
  readonly socket: WebSocket;
  readonly messages: Message[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #waiting: (() => void)[] = [];

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer) => {
      this.messages.push(JSON.parse(data.toString()) as Message);
      for (const wake of this.#waiting.splice(0)) wake();
    });
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => {
        resolve({ code, reason: reason.toString() });
        for (const wake of this.#waiting.splice(0)) wake();
      });
    });
    socket.on('error', () => undefined);
  }

  static async open(
    url: string,
    options: ClientOptions = {},
    protocols: string[] = [],
  ): Promise<StreamConnection> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/stream`, protocols, options);
    const connection = new StreamConnection(socket);
    await once(socket, 'open');
    return connection;
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** The first `count` messages; rejects when they do not come. */
  async take(count: number): Promise<Message[]> {
    const end = Date.now() + HANG_MS;
    while (this.messages.length < count) {
      const left = end - Date.now();
      if (left <= 0) throw new Error(`${this.messages.length} of ${count} messages came`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    return this.messages.slice(0, count);
  }

  /** All messages up to the answer to a ping: nothing sent before it is still under way. */
  async settled(): Promise<Message[]> {
    const id = `settled-${this.messages.length}`;
    this.send({ action: 'ping', id });
    for (;;) {
      const at = this.messages.findIndex((message) => message.id === id);
      if (at !== -1) {
        this.messages.splice(at, 1);
        return this.messages;
      }
      await this.take(this.messages.length + 1);
    }
  }
}
