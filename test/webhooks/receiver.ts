/** A local server that records what reaches it and answers as told. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  headers: IncomingMessage['headers'];
  method: string | undefined;
  path: string | undefined;
  body: string;
  at: number;
}

export interface Receiver extends AsyncDisposable {
  url: string;
  port: number;
  received: Received[];
  /** Most requests that were unanswered at one time. */
  peak: number;
}

type Answer = (response: ServerResponse, received: Received, request: IncomingMessage) => void;

export const answerWith =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, headers).end('answer');
  };

export async function startReceiver(answer: Answer): Promise<Receiver> {
  let open = 0;
  const server = createServer((request, response) => {
    open += 1;
    receiver.peak = Math.max(receiver.peak, open);
    response.on('close', () => (open -= 1));
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const received: Received = {
        headers: request.headers,
        method: request.method,
        path: request.url,
        body: Buffer.concat(chunks).toString(),
        at: Date.now(),
      };
      receiver.received.push(received);
      answer(response, received, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook?from=test`,
    port,
    received: [],
    peak: 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
