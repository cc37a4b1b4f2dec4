/** The only place that opens a port: app and event stream on one `node:http` server. */
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createAdaptorServer,
  getRequestListener,
  type WebSocketServerLike,
} from '@hono/node-server';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Logger } from '../../base/logger-port.js';
import { ConfigError, environmentName } from '../../settings/config.js';
import { LatticeError } from '../../api/errors.js';
import { MAX_FRAME, WORKER_PATH } from '../../execution/wire/frames.js';
import { Connections } from './connections.js';
import { ignoreOtherUpgrades } from './ignored-upgrades.js';
import { OutgoingResponse } from './outgoing-response.js';
import { PROBLEM_TYPE } from '../answer/problem.js';

/**
 * Limits on what one connection may hold, tighter than Node's: a client that sends its request slowly holds a socket
 * for a limited time. Tests shorten the times.
 */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  // Longer than clients and proxies keep theirs, so that none sends on a connection that closes at that moment: the
  // clients of Go and Rust and Traefik keep them for 90 s, Caddy for 120 s, nginx and cloud balancers for 60 s.
  keepAliveTimeout: 125_000,
  connectionsCheckingInterval: 2_000,
  /** Milliseconds in which a client takes nothing of its answer; then the connection is destroyed. */
  unreadTimeout: 60_000,
  /** Connections at a time, WebSockets included. */
  connections: Infinity,
};
export type ConnectionLimits = typeof LIMITS;
const MAX_HEADER_BYTES = 16 * 1024;
/** Limit of a frame of a client; workers have authenticated themselves by then and send more. */
const MAX_CLIENT_FRAME = 64 * 1024;
const SWEEP_MS = 25;
const WARN_EVERY_MS = 60_000;
const SUBPROTOCOL = 'lattice';

/** The part of the result of `composeApp` that listening needs. */
export interface Servable {
  app: { fetch(request: Request, env: unknown): Response | Promise<Response> };
  stream: { close(): void };
  /** True for sockets that `Listening.close` leaves open: their owner closes them. */
  outlives: (socket: WebSocket) => boolean;
  /** The app refuses a longer body of this request by its declared length. */
  maxBodyBytes: (request: IncomingMessage) => number;
}

export interface Listening {
  url: string;
  port: number;
  /**
   * Accepts no more connections, closes WebSockets with 1001 and waits for the answers to requests that have come
   * whole; a client that keeps it waiting has 2 s. Destroys what is left at the deadline. Resolves when the port is
   * free and only the connections of `outlives` are left.
   */
  close(deadlineMs: number): Promise<void>;
}

/** Rejects with a `ConfigError` when the address cannot be bound. Port 0 picks a free one. */
export async function listen(
  { app, stream, outlives, maxBodyBytes }: Servable,
  { host, port }: { host: string; port: number },
  limits: Partial<ConnectionLimits> = {},
  logger?: Pick<Logger, 'warn'>,
): Promise<Listening> {
  const { unreadTimeout, connections: most, ...times } = { ...LIMITS, ...limits };
  const options: ServerOptions<typeof IncomingMessage, typeof OutgoingResponse> = {
    ...times,
    maxHeaderSize: MAX_HEADER_BYTES,
    ServerResponse: OutgoingResponse,
  };
  const sockets = new SocketServer({
    noServer: true,
    perMessageDeflate: false,
    // Never echo the sub-protocol that carries a key.
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  const answerRequest = getRequestListener((request, env) => app.fetch(request, env), {
    // HTTP/1.0 needs no Host, and load balancers probe with it; for HTTP/1.1 Node's parser requires one.
    hostname: 'localhost',
    errorHandler: unreadable,
  });
  const server = createAdaptorServer({
    fetch: (request, env) => app.fetch(request, env),
    // The adaptor's own listener answers an unreadable request without a body; this one answers with a problem.
    createServer: (() =>
      createServer(options, (incoming, outgoing) => {
        answer(incoming, outgoing);
      })) as unknown as typeof createServer,
    // The adaptor's type forbids the explicit undefined that the type of ws allows.
    websocket: { server: sockets as unknown as WebSocketServerLike },
  }) as Server;
  server.timeout = unreadTimeout;
  let warnedAt = -Infinity;
  const onFull = (network: string): void => {
    if (performance.now() - warnedAt < WARN_EVERY_MS) return;
    warnedAt = performance.now();
    logger?.warn({ limit: most, network }, 'too many connections: those that wait are closed');
  };
  const connections = new Connections(server, sockets, { most, onFull });
  const answer = (incoming: IncomingMessage, outgoing: OutgoingResponse): void => {
    connections.expectAnswer(incoming, outgoing);
    void answerRequest(incoming, outgoing);
  };
  ignoreOtherUpgrades(server, (socket) => connections.answered(socket));
  server.on('clientError', refuseConnection);
  server.on('checkExpectation', (_incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { reason, headers, body } = connectionProblem(417);
    outgoing.writeHead(417, reason, headers).end(body);
  });
  // Node's own listener sends 100 Continue for every body. Without it Node closes the connection after the answer.
  server.on('checkContinue', (incoming: IncomingMessage, outgoing: OutgoingResponse) => {
    outgoing.bodyComes = declaredLength(incoming) <= maxBodyBytes(incoming);
    if (outgoing.bodyComes) outgoing.writeContinue();
    answer(incoming, outgoing);
  });
  await bind(server, host, port);
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    port: bound,
    close: (deadlineMs) => close({ server, connections, sockets, stream, outlives }, deadlineMs),
  };
}

/** 0 for a chunked body, whose length is unknown. */
function declaredLength({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? 0);
}

const BIND_ERRORS = new Map([
  ['EADDRINUSE', `another process uses it; set ${environmentName('port')} to a free one`],
  [
    'EACCES',
    `ports below 1024 require a privilege; set ${environmentName('port')} to a higher one`,
  ],
  ['EADDRNOTAVAIL', `this machine does not have this address; correct ${environmentName('host')}`],
  ['ENOTFOUND', `the host name is unknown; correct ${environmentName('host')}`],
]);

function bind(server: Server, host: string, port: number): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const advice = BIND_ERRORS.get(error.code ?? '') ?? error.message;
      reject(new ConfigError(`Cannot listen on ${host} port ${port}: ${advice}.`));
    });
    server.listen(port, host, resolve);
  });
}

/** A server whose sockets differ in the longest frame that they take. */
class SocketServer extends WebSocketServer {
  override handleUpgrade(...upgrade: Parameters<WebSocketServer['handleUpgrade']>): void {
    const [{ url = '' }] = upgrade;
    // Read before this call returns.
    this.options.maxPayload = url.startsWith(WORKER_PATH) ? MAX_FRAME : MAX_CLIENT_FRAME;
    super.handleUpgrade(...upgrade);
  }
}

interface Closing extends Pick<Servable, 'stream' | 'outlives'> {
  server: Server;
  connections: Connections;
  sockets: WebSocketServer;
}

async function close(
  { server, connections, sockets, stream, outlives }: Closing,
  deadlineMs: number,
): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  server.close();
  stream.close();
  const others = () => [...sockets.clients].filter((socket) => !outlives(socket));
  // Connections become idle one by one as their requests end.
  for (;;) {
    connections.closeUnlessWorking();
    if (connections.count + others().length === 0 || performance.now() >= deadline) break;
    await sleep(SWEEP_MS);
  }
  for (const socket of others()) socket.terminate();
  connections.closeAll();
}

/** Answers a request whose URL or Host is invalid: it cannot become a `Request` for the app. */
function unreadable(thrown: unknown): Response {
  const known = thrown instanceof Error && thrown.name === 'RequestError';
  const error = known
    ? new LatticeError('bad_request', 'The request line or Host header cannot be read.')
    : new LatticeError('internal_error', 'An internal error occurred.');
  return new Response(JSON.stringify(error.toProblem()), {
    status: error.status,
    headers: { 'content-type': PROBLEM_TYPE },
  });
}

const CONNECTION_ERRORS = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
]);

/** Answers bytes that are not HTTP, headers that are too long and requests that arrive too slowly. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = CONNECTION_ERRORS.get(error.code ?? '') ?? 400;
  const { reason, headers, body } = connectionProblem(status);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n${body}`);
}

function connectionProblem(status: number) {
  const reason = STATUS_CODES[status] ?? 'Bad Request';
  const body = JSON.stringify({ ...new LatticeError('bad_request', reason).toProblem(), status });
  const headers = {
    Connection: 'close',
    'Content-Type': PROBLEM_TYPE,
    'Content-Length': String(Buffer.byteLength(body)),
  };
  return { reason, headers, body };
}
