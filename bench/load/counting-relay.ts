/** A port on loopback that passes everything on to another one, and counts. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';

export class CountingRelay {
  /** Bytes so far. */
  toTarget = 0;
  fromTarget = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  static async to(port: number): Promise<CountingRelay> {
    const relay = new CountingRelay(port);
    await once(relay.#server.listen(0, '127.0.0.1'), 'listening');
    return relay;
  }

  private constructor(port: number) {
    this.#server = createServer((incoming) => {
      const outgoing = connect(port, '127.0.0.1');
      incoming.on('data', (chunk: Buffer) => (this.toTarget += chunk.length));
      outgoing.on('data', (chunk: Buffer) => (this.fromTarget += chunk.length));
      incoming.pipe(outgoing).pipe(incoming);
      for (const socket of [incoming, outgoing]) {
        this.#sockets.add(socket);
        // Either end may be killed.
        socket.on('error', () => socket.destroy());
      }
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
