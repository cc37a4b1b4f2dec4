/** One connection of a browser to `/v1/stream`: takes the place of `event-socket.ts` in bundles for browsers. */
import type { StreamTarget } from './event-socket.js';
import type { ServerMessage, Subscription } from './follow-events.js';
import { ServiceError } from './service-error.js';

/** The part of a browser's WebSocket that is used here. */
interface PageSocket {
  onopen: (() => void) | null;
  onmessage: ((message: { data: unknown }) => void) | null;
  onclose: ((closed: { code: number }) => void) | null;
  onerror: (() => void) | null;
  send(text: string): void;
  close(): void;
}

type OpenSocket = new (url: string, protocols: string[]) => PageSocket;

/** The characters that a sub-protocol may have. */
const PROTOCOL = /^[\w!#$%&'*+.^`|~-]+$/;
const UNAUTHENTICATED = 4401;
/** A page cannot see the protocol's own pings. What has said nothing between two of its own counts as lost. */
const PING_MS = 15_000;

/**
 * The `OpenEventSocket` of browsers. Rejects with `unauthorized` for a missing or unknown key, and with the errors of
 * `socketProtocols`.
 */
export async function* openEventSocket(
  { baseUrl, headers }: StreamTarget,
  subscription: Subscription,
  signal: AbortSignal | undefined,
): AsyncGenerator<ServerMessage, void> {
  signal?.throwIfAborted();
  const { WebSocket } = globalThis as unknown as { WebSocket: OpenSocket };
  const key = headers.authorization?.replace('Bearer ', '') ?? null;
  const socket = new WebSocket(`${baseUrl.replace(/^http/, 'ws')}/v1/stream`, socketProtocols(key));
  const messages: ServerMessage[] = [];
  const closed: { code: number | null } = { code: null };
  let isOpen = false;
  let heard = true;
  let wake = (): void => undefined;
  const end = (code: number): void => {
    closed.code ??= code;
    wake();
  };
  const onAbort = (): void => {
    end(0);
  };
  socket.onopen = () => {
    isOpen = true;
    socket.send(JSON.stringify({ action: 'subscribe', ...subscription }));
  };
  socket.onmessage = ({ data }) => {
    heard = true;
    const message = JSON.parse(String(data)) as ServerMessage | { event: 'pong' };
    if (message.event !== 'pong') messages.push(message);
    wake();
  };
  socket.onerror = () => undefined; // a close follows every error
  socket.onclose = ({ code }) => {
    end(code);
  };
  const heartbeat = setInterval(() => {
    if (!heard) {
      end(0);
      return;
    }
    heard = false;
    // A socket that is still connecting throws at `send`; it has as long as an answer to open.
    if (isOpen) socket.send('{"action":"ping"}');
  }, PING_MS);
  signal?.addEventListener('abort', onAbort);
  try {
    for (;;) {
      for (let next = messages.shift(); next !== undefined; next = messages.shift()) yield next;
      signal?.throwIfAborted();
      if (closed.code === UNAUTHENTICATED) throw unauthorized();
      if (closed.code !== null) return;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    clearInterval(heartbeat);
    signal?.removeEventListener('abort', onAbort);
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }
}

function unauthorized(): ServiceError {
  return new ServiceError({
    code: 'unauthorized',
    title: 'API key needed',
    status: 401,
    detail: 'The API key is missing or unknown.',
  });
}

/**
 * The sub-protocols that carry the key: a browser cannot set headers of a WebSocket. Throws for a key with other
 * characters: the browser's error message would contain the key.
 */
export function socketProtocols(key: string | null): string[] {
  if (key === null) return ['lattice'];
  if (!PROTOCOL.test(key)) {
    throw new Error('This key has characters that a browser cannot offer to a WebSocket.');
  }
  return ['lattice', `bearer.${key}`];
}
