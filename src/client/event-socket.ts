/** One connection of a Node program to `/v1/stream`. */
import { on } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import type { ServerMessage, Subscription } from './follow-events.js';
import type { Problem } from './records.js';
import { ServiceError, unreachable } from './service-error.js';

const HANDSHAKE_MS = 10_000;
/** The service pings every 30 s. */
const SILENCE_MS = 75_000;
const CLOSE_GRACE_MS = 1_000;
/** With more unread messages the socket is paused. The service then closes it and replays the events later. */
const MOST_UNREAD = 1_000;
const FEW_UNREAD = 100;

export interface StreamTarget {
  baseUrl: string;
  headers: Readonly<Record<string, string>>;
}

/** The `OpenEventSocket` of Node. */
export async function* openEventSocket(
  target: StreamTarget,
  subscription: Subscription,
  signal: AbortSignal | undefined,
): AsyncGenerator<ServerMessage, void> {
  signal?.throwIfAborted();
  const socket = new WebSocket(`${target.baseUrl.replace(/^http/, 'ws')}/v1/stream`, {
    headers: target.headers,
    handshakeTimeout: HANDSHAKE_MS,
    perMessageDeflate: false,
  });
  const refusal = refusalOf(socket, target.baseUrl);
  socket.on('error', () => undefined); // also errors after the last read
  socket.once('open', () => {
    socket.send(JSON.stringify({ action: 'subscribe', ...subscription }));
  });
  const stopWatching = endWhenSilent(socket);
  try {
    const frames = on(socket, 'message', {
      close: ['close'],
      highWaterMark: MOST_UNREAD,
      lowWaterMark: FEW_UNREAD,
      ...(signal === undefined ? {} : { signal }),
    }) as AsyncIterable<[Buffer]>;
    for await (const [data] of frames) yield JSON.parse(data.toString()) as ServerMessage;
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    throw (await refusal()) ?? unreachable(target.baseUrl, error);
  } finally {
    stopWatching();
    end(socket);
  }
}

/** The returned function gives the service's error answer if it refused the upgrade, else null. */
function refusalOf(socket: WebSocket, baseUrl: string): () => Promise<ServiceError | null> {
  let refusal: Promise<ServiceError> | null = null;
  socket.once('unexpected-response', (_request, response: IncomingMessage) => {
    refusal = readRefusal(response, baseUrl);
    void refusal.finally(() => {
      socket.terminate();
    });
  });
  return () => refusal ?? Promise.resolve(null);
}

async function readRefusal(response: IncomingMessage, baseUrl: string): Promise<ServiceError> {
  const status = response.statusCode ?? 0;
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const problem = JSON.parse(Buffer.concat(chunks).toString()) as Problem;
    if (typeof problem.code === 'string') return new ServiceError(problem);
  } catch {
    // The body is not the service's: only the status is known.
  }
  const detail = `${baseUrl}/v1/stream answers HTTP ${status} in place of a WebSocket.`;
  return ServiceError.ofClient('unexpected_answer', detail, { status });
}

/** Ends a silent connection: otherwise one whose other end disappeared would stay open for hours. */
function endWhenSilent(socket: WebSocket): () => void {
  const timer = setTimeout(() => {
    // A paused socket receives nothing.
    if (socket.isPaused) timer.refresh();
    else socket.terminate();
  }, SILENCE_MS);
  const heard = () => {
    timer.refresh();
  };
  socket.on('ping', heard).on('message', heard);
  return () => {
    socket.off('ping', heard).off('message', heard);
    clearTimeout(timer);
  };
}

function end(socket: WebSocket): void {
  if (socket.readyState === socket.CLOSED) return;
  if (socket.readyState !== socket.OPEN) {
    socket.terminate();
    return;
  }
  socket.close(1000);
  setTimeout(() => {
    socket.terminate();
  }, CLOSE_GRACE_MS).unref();
}
