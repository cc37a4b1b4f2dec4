/** Requests of the HTTP server: an upgrade to any protocol but WebSocket is ignored. */
import { IncomingMessage } from 'node:http';

/**
 * A request with another Upgrade header is answered as if it had none (RFC 9110, 7.8): Java's own client sends
 * `Upgrade: h2c` with every request. With an `upgrade` listener Node passes every such request to it, body unread, where
 * nothing answers it. Node reads the property `upgrade` to decide.
 */
export class IncomingRequest extends IncomingMessage {
  // Declared only: the parent's constructor sets `upgrade`, and an initial value would come after it.
  declare private requested: boolean | null;

  get upgrade(): boolean {
    if (this.requested !== true) return false;
    return this.method === 'CONNECT' || this.headers.upgrade?.toLowerCase() === 'websocket';
  }

  set upgrade(requested: boolean | null) {
    this.requested = requested;
  }
}
