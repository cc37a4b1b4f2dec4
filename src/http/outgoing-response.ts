/** The answers of the HTTP server: what becomes of a connection whose request has not come whole by then. */
import { ServerResponse, type OutgoingHttpHeader, type OutgoingHttpHeaders } from 'node:http';
import { finished } from 'node:stream';
import type { IncomingRequest } from './incoming-request.js';

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** A body up to this length is as good as sent when the answer leaves. */
const SHORT_BODY = 64 * 1024;
/** Below the time that a whole request may take, after which Node answers once more. */
const REST_MS = 25_000;

/**
 * A refusal often comes before its request's body. Closing with bytes unread resets the connection, and a client that
 * sends first and reads then never sees the answer. So the connection goes on once the rest has come and gone. After a
 * long body it is closed then, as it is told: some clients would send their next request in the midst of the rest.
 */
export class OutgoingResponse extends ServerResponse<IncomingRequest> {
  /** False where the client waits to be asked for its body and was not. */
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
    this.takeRest();
    return this;
  }

  private takeRest(): void {
    const { req } = this;
    const over = setTimeout(() => super.end(), REST_MS).unref();
    finished(req, { writable: false }, () => {
      clearTimeout(over);
      super.end();
    });
    // A reader that gave up in the middle would hold the rest back.
    req.removeAllListeners('data').resume();
  }
}

function isShort({ headers }: IncomingRequest): boolean {
  return Number(headers['content-length'] ?? Infinity) <= SHORT_BODY;
}
