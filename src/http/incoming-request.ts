/** The requests of the HTTP server: of the protocols that one may ask to change to, only WebSocket is spoken. */
import { IncomingMessage } from 'node:http';

/**
 * Any other wish is passed over and the request is answered as if it had none, as RFC 9110 (7.8) has it. Java's own
 * client wishes for `h2c` in every request. Node asks `upgrade` what becomes of a request: by itself it hands over
 * each wish as soon as one kind is taken, its body unread, and nobody would answer.
 */
export class IncomingRequest extends IncomingMessage {
  // Declared only: the parent's constructor sets `upgrade`, and an initial value would come after it.
  declare private wished: boolean | null;

  get upgrade(): boolean {
    if (this.wished !== true) return false;
    return this.method === 'CONNECT' || this.headers.upgrade?.toLowerCase() === 'websocket';
  }

  set upgrade(wished: boolean | null) {
    this.wished = wished;
  }
}
