/** Answers as the HTTP server makes them. */
import {
  ServerResponse,
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
} from 'node:http';
import { finished } from 'node:stream';

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** A client has usually sent a body of this length before it receives the answer. */
const SHORT_BODY = 64 * 1024;
/** Less than the time limit of a request, at which Node would send a second answer. */
const REST_MS = 25_000;

/**
 * A refusal is often sent before the body of its request has arrived. Closing the connection with unread bytes resets
 * it, and a client that sends its whole body before it reads never receives the answer. So the rest of the body is read
 * and dropped first. After a long body the connection is closed, with `Connection: close` in the answer: some clients
 * would send their next request before the end of the body.
 */
export class OutgoingResponse extends ServerResponse {
  /** False for a client that waits for `100 Continue` and was refused. */
  bodyComes = true;

  override writeHead(status: number, reason?: string, headers?: Headers): this;
  override writeHead(status: number, headers?: Headers): this;
  override writeHead(status: number, ...rest: unknown[]): this {
    if (!this.req.complete && !isShort(this.req)) this.setHeader('Connection', 'close');
    return super.writeHead(status, ...(rest as [Headers?]));
  }

  override end(done?: () => void): this;
  override end(chunk: unknown, done?: () => void): this;
  override end(chunk: unknown, encoding: BufferEncoding, done?: () => void): this;
  override end(...last: unknown[]): this {
    if (this.req.complete || !this.bodyComes) return super.end(...(last as [unknown]));
    const [chunk] = last;
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) this.write(chunk);
    this.dropRest();
    return this;
  }

  private dropRest(): void {
    const { req } = this;
    const limit = setTimeout(() => super.end(), REST_MS).unref();
    finished(req, { writable: false }, () => {
      clearTimeout(limit);
      super.end();
    });
    // A handler that stopped reading in the middle would block the rest.
    req.removeAllListeners('data').resume();
  }
}

function isShort({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? Infinity) <= SHORT_BODY;
}
