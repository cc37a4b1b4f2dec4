/** Stands before a real service and does what networks and proxies do to its answers. */
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

/** Answers in place of the service. */
export type Fault = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

export class FaultProxy {
  /** Each of the next requests gets one of these; afterwards all go through. */
  readonly faults: Fault[] = [];
  /** Every request that came. */
  readonly seen: { method: string; path: string; headers: IncomingMessage['headers'] }[] = [];
  /** False: sockets are refused with 404, as by a proxy that passes no upgrades. */
  passesSockets = true;
  /** Messages of a client on a new socket arrive once this is done. */
  socketsMaySpeak = Promise.resolve();
  /** The next answer breaks off after so many bytes. */
  cutAfterBytes: number | null = null;
  url = '';
  readonly #target: URL;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((incoming, outgoing) => {
    this.#answer(incoming, outgoing);
  });

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server.on('upgrade', (incoming: IncomingMessage, socket: Socket) => {
      this.#pass(incoming, socket);
    });
  }

  static async open(target: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    proxy.url = `http://127.0.0.1:${(proxy.#server.address() as AddressInfo).port}`;
    return proxy;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  /** Breaks every socket off, without a word. */
  cutSockets(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** The sockets that are open stay so, and nothing comes through any more. */
  muteSockets(): void {
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.cutSockets();
    this.#server.closeAllConnections();
    return new Promise((resolve) =>
      this.#server.close(() => {
        resolve();
      }),
    );
  }

  #answer(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method = '', url = '', headers } = incoming;
    this.seen.push({ method, path: url, headers });
    const fault = this.faults.shift();
    if (fault !== undefined) {
      fault(incoming, outgoing);
      return;
    }
    const { hostname, port } = this.#target;
    const passed = request({ hostname, port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      this.#deliver(answer, outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  }

  #deliver(answer: IncomingMessage, outgoing: ServerResponse): void {
    const most = this.cutAfterBytes;
    this.cutAfterBytes = null;
    if (most === null) {
      answer.pipe(outgoing);
      return;
    }
    let sent = 0;
    answer.on('data', (chunk: Buffer) => {
      sent += chunk.length;
      outgoing.write(chunk, () => {
        if (sent > most) outgoing.destroy();
      });
    });
  }

  #pass(incoming: IncomingMessage, socket: Socket): void {
    socket.on('error', () => undefined);
    if (!this.passesSockets) {
      socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    const lines = Object.entries(incoming.headers).map(
      ([name, value]) => `${name}: ${String(value)}\r\n`,
    );
    const service = connect(Number(this.#target.port), this.#target.hostname, () => {
      service.write(`GET ${incoming.url} HTTP/1.1\r\n${lines.join('')}\r\n`);
    });
    for (const [from, to] of [
      [service, socket],
      [socket, service],
    ] as const) {
      this.#sockets.add(from);
      from.on('error', () => undefined);
      void (from === socket ? this.socketsMaySpeak : Promise.resolve()).then(() => from.pipe(to));
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
  }
}

/** A refusal with `Retry-After`, as the service words it. */
export function refusal(status: 429 | 503, retryAfterS: number): Fault {
  const code = status === 503 ? 'model_not_ready' : 'queue_full';
  return (incoming, outgoing) => {
    incoming.resume();
    outgoing.writeHead(status, {
      'content-type': 'application/problem+json',
      'retry-after': String(retryAfterS),
    });
    outgoing.end(
      JSON.stringify({ type: '', title: 'Not now', status, code, detail: 'It is not ready.' }),
    );
  };
}

/** Passes the request to the service and breaks the connection off in place of its answer. */
export function losesAnswer(serviceUrl: string): Fault {
  return (incoming, outgoing) => {
    const { method, url = '', headers } = incoming;
    const passed = request(`${serviceUrl}${url}`, { method, headers }, (answer) => {
      answer.resume();
      outgoing.destroy();
    });
    incoming.pipe(passed);
  };
}
