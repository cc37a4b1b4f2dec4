/** All connections of `/v1/stream`: broadcasts events, answers messages, pings, and closes them at the end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { LatticeError, toLatticeError } from '../api/errors.js';
import { connectionLimit } from '../base/descriptors.js';
import { JOB_EVENT_NAMES } from '../api/events.js';
import type { AppDeps } from '../http/app-deps.js';
import type { ReadSubmission, Sender } from '../http/routes/jobs/read-submission.js';
import { toProblem, type HideFolders } from '../answers/shown-problem.js';
import { memberText } from '../http/request/sent-text.js';
import { validate } from '../http/request/validation.js';
import type { JobEvent } from '../store/job.js';
import { CLOSE, StreamClient } from './stream-client.js';
import {
  clientMessageSchema,
  eventMessage,
  idOf,
  notice,
  parseFrame,
  submissionOf,
  type ClientMessage,
} from './stream-messages.js';

/** The rest is for requests. */
const SHARE_OF_CONNECTIONS = 0.75;
const MAX_CLIENTS = Math.min(10_000, SHARE_OF_CONNECTIONS * connectionLimit());
const PING_MS = 30_000;
const REPLAY_PAGE = 500;
/** Replay waits while more bytes than this are unread: otherwise it would exceed the limit of a slow reader. */
const REPLAY_BUFFER = 256 * 1024;

type Submit = Extract<ClientMessage, { action: 'submit' }>;
type Subscribe = Extract<ClientMessage, { action: 'subscribe' }>;

export class EventStream {
  readonly #deps: AppDeps;
  readonly #readSubmission: ReadSubmission;
  readonly #hide: HideFolders;
  readonly #clients = new Set<StreamClient>();
  readonly #stopListening: () => void;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(deps: AppDeps, readSubmission: ReadSubmission, hide: HideFolders) {
    this.#deps = deps;
    this.#readSubmission = readSubmission;
    this.#hide = hide;
    this.#stopListening = deps.jobs.onEvent((event) => {
      this.#broadcast(event);
    });
    this.#heartbeat = setInterval(() => {
      for (const client of this.#clients) client.heartbeat();
    }, PING_MS);
    this.#heartbeat.unref();
  }

  get clientCount(): number {
    return this.#clients.size;
  }

  /** Takes over an open socket; `keyId` is undefined when authentication failed. Returns null when it was closed. */
  connect(
    socket: WebSocket,
    { keyId, isForeign }: Pick<Sender, 'isForeign'> & { keyId: string | null | undefined },
  ): StreamClient | null {
    const client = new StreamClient(socket, { keyId: keyId ?? null, isForeign });
    if (keyId === undefined) {
      const error = new LatticeError('unauthorized', 'Open the socket with a known API key.');
      client.send(notice('error', undefined, { error: toProblem(error, this.#hide) }));
      client.close(CLOSE.unauthenticated, 'unauthorized');
      return null;
    }
    if (this.#clients.size >= MAX_CLIENTS || this.#deps.draining()) {
      client.close(CLOSE.tryLater, 'try again later');
      return null;
    }
    this.#clients.add(client);
    this.#deps.metrics.setStreamClients(this.#clients.size);
    return client;
  }

  disconnect(client: StreamClient): void {
    if (this.#clients.delete(client)) this.#deps.metrics.setStreamClients(this.#clients.size);
  }

  /** Answers one message. Never rejects: an invalid message is answered with `error` and the socket stays open. */
  async receive(client: StreamClient, data: unknown): Promise<void> {
    if (!client.mayReceive()) {
      client.close(CLOSE.tooManyMessages, 'too many messages');
      return;
    }
    let value: unknown;
    try {
      value = parseFrame(data);
      if (client.keyId !== null) this.#deps.apiKeys?.count(client.keyId);
      await this.#act(client, validate(clientMessageSchema, value), data as string);
    } catch (thrown) {
      const error = toLatticeError(thrown);
      if (error.status >= 500) this.#deps.logger.error({ err: thrown }, 'stream message failed');
      client.send(notice('error', idOf(value), { error: toProblem(error, this.#hide) }));
    }
  }

  /** Closes every connection with 1001. Idempotent. */
  close(): void {
    clearInterval(this.#heartbeat);
    this.#stopListening();
    for (const client of this.#clients) client.close(CLOSE.goingAway, 'service is stopping');
  }

  #broadcast(event: JobEvent): void {
    // Serialised once for all clients, and only when one wants it.
    let frame: Buffer | undefined;
    for (const client of this.#clients) {
      if (!client.wants(event)) continue;
      frame ??= Buffer.from(JSON.stringify(eventMessage(event, this.#hide)));
      client.offer(event, frame);
    }
  }

  async #act(client: StreamClient, message: ClientMessage, frame: string): Promise<void> {
    switch (message.action) {
      case 'ping':
        client.send(notice('pong', message.id, { seq: this.#deps.jobs.lastSeq() }));
        return;
      case 'submit':
        return this.#submit(client, message, frame);
      case 'subscribe':
        return this.#subscribe(client, message);
      case 'unsubscribe':
        client.subscribe(null);
        client.send(notice('unsubscribed', message.id));
        return;
    }
  }

  async #submit(client: StreamClient, { id, payload }: Submit, frame: string): Promise<void> {
    const metadata = () => memberText(frame, ['payload', 'metadata']);
    const ticket = client.gate.hold();
    try {
      const { spec } = await this.#readSubmission(payload, metadata, client.sender).catch(
        (thrown: unknown) => {
          throw inPayload(thrown);
        },
      );
      const { job } = await this.#deps.jobs.submit(spec);
      const { jobId } = job;
      const expected = client.wants({ event: 'job_submitted', jobId, keyId: client.keyId });
      const event = client.gate.claim(job, expected);
      client.send(eventMessage(event ?? submissionOf(job), this.#hide, id));
    } finally {
      client.gate.release(ticket);
    }
  }

  async #subscribe(client: StreamClient, message: Subscribe): Promise<void> {
    client.subscribe({
      events: new Set(message.events ?? JOB_EVENT_NAMES),
      jobIds: message.job_ids === undefined ? null : new Set(message.job_ids),
    });
    client.send(notice('subscribed', message.id, { seq: this.#deps.jobs.lastSeq() }));
    if (message.after_seq === undefined) return;
    const ticket = client.gate.hold();
    try {
      await this.#replay(client, message.after_seq, message.id);
    } finally {
      client.gate.release(ticket);
    }
  }

  async #replay(client: StreamClient, afterSeq: number, id: ClientMessage['id']): Promise<void> {
    let seq = afterSeq;
    while (client.isOpen()) {
      const { events, gap } = await this.#deps.jobs.eventsAfter(seq, REPLAY_PAGE);
      if (gap && seq === afterSeq) client.send(notice('gap', id, { after_seq: afterSeq }));
      for (const event of events) {
        if (client.wants(event)) client.send(eventMessage(event, this.#hide));
        seq = Math.max(seq, event.seq);
      }
      // A number from another or a replaced store must not suppress new events.
      client.gate.replayed(events.length > 0 ? seq : Math.min(seq, this.#deps.jobs.lastSeq()));
      if (events.length < REPLAY_PAGE) return;
      while (client.isOpen() && client.bufferedBytes > REPLAY_BUFFER) await sleep(20);
    }
  }
}

/** Makes the pointers of a submission relative to the message that contained it. */
function inPayload(thrown: unknown): unknown {
  if (!(thrown instanceof LatticeError) || thrown.errors === undefined) return thrown;
  return new LatticeError(thrown.code, thrown.message, {
    errors: thrown.errors.map((item) =>
      item.pointer === undefined
        ? item
        : { ...item, pointer: item.pointer.replace(/^#/, '#/payload') },
    ),
    cause: thrown,
  });
}
