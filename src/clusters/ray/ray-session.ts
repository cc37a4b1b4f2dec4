/**
 * One session with a Ray head: a Datapath stream that the head answers with a Python process of its own, and calls
 * that carry the same client id. It costs the head about 100 MB and a second or two to start, so a service holds one.
 */
import { randomBytes } from 'node:crypto';
import * as grpc from '@grpc/grpc-js';
import { DataStream } from './data-stream.js';
import type { RayAddress } from './ray-address.js';
import { initFailed, RayFailure, toRayFailure } from './ray-failure.js';
import {
  rayProtocol,
  type ClusterInfoResponse,
  type ClusterInfoType,
  type DriverClient,
  type StreamerClient,
} from './ray-protocol.js';

/** A NODES answer grows with every node that ever was; gRPC's own limit is 4 MiB. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

const CHANNEL_OPTIONS: grpc.ClientOptions = {
  'grpc.max_receive_message_length': MAX_ANSWER_BYTES,
  // Ray's own clients go straight to the cluster too, whatever http_proxy says.
  'grpc.enable_http_proxy': 0,
  // Otherwise each connection asks the name server for a TXT record first.
  'grpc.service_config_disable_resolution': 1,
  // Otherwise a new session would inherit the back-off of the connection that the last one lost.
  'grpc.use_local_subchannel_pool': 1,
};

const PING_DEADLINE_MS = 3_000;
/** The head itself waits up to 30 s for the process that serves the session. */
const INIT_DEADLINE_MS = 40_000;
const INFO_DEADLINE_MS = 5_000;
const CLEANUP_DEADLINE_MS = 1_000;

export interface RaySessionOptions {
  address: RayAddress;
  namespace: string;
  /** Null where the cluster asks for none. */
  token: string | null;
  /** Aborting ends the attempt to open a session at once; an open one is ended by `close`. */
  signal: AbortSignal;
}

export class RaySession {
  rayVersion = '';
  pythonVersion: string | null = null;
  readonly #driver: DriverClient;
  readonly #streamer: StreamerClient;
  readonly #metadata: grpc.Metadata;
  /** Calls in hand, to be cancelled at the end. */
  readonly #open = new Set<{ cancel(): void }>();
  #data: DataStream | null = null;
  #closing: Promise<void> | null = null;

  /** Rejects with a `RayFailure`; then nothing of the session is left. */
  static async open(options: RaySessionOptions): Promise<RaySession> {
    const session = new RaySession(options);
    const stop = () => {
      session.#disconnect();
    };
    options.signal.addEventListener('abort', stop, { once: true });
    try {
      // Answered without a session: tells a head from a port where nothing, or something else, listens.
      await session.ask('PING', PING_DEADLINE_MS);
      await session.#init(options.namespace);
      return session;
    } catch (error) {
      stop();
      throw toRayFailure(error);
    } finally {
      options.signal.removeEventListener('abort', stop);
    }
  }

  private constructor({ address: { host, port }, token }: RaySessionOptions) {
    const { RayletDriver, RayletDataStreamer } = rayProtocol();
    const target = `dns:${host.includes(':') ? `[${host}]` : host}:${port}`;
    const credentials = grpc.credentials.createInsecure();
    this.#driver = new RayletDriver(target, credentials, CHANNEL_OPTIONS);
    this.#streamer = new RayletDataStreamer(target, credentials, {
      channelOverride: this.#driver.getChannel(),
    });
    this.#metadata = new grpc.Metadata();
    this.#metadata.set('client_id', randomBytes(16).toString('hex'));
    this.#metadata.set('reconnecting', 'False');
    if (token !== null) this.#metadata.set('authorization', `Bearer ${token}`);
  }

  /** Aborted with a `RayFailure` when the session is gone. A lost session is not restored. */
  get lost(): AbortSignal {
    return this.#stream().lost;
  }

  /** Rejects with a `RayFailure`. */
  ask(type: ClusterInfoType, deadlineMs: number): Promise<ClusterInfoResponse> {
    return new Promise((resolve, reject) => {
      const deadline = Date.now() + deadlineMs;
      const call = this.#driver.clusterInfo(
        { type },
        this.#metadata,
        { deadline },
        (error, response) => {
          this.#open.delete(call);
          if (error !== null) reject(toRayFailure(error, deadlineMs));
          else resolve(response ?? { type });
        },
      );
      this.#open.add(call);
    });
  }

  /** Lets the head end the process it holds for the session. Never rejects; takes two seconds at most. */
  close(): Promise<void> {
    this.#closing ??= this.#cleanUp();
    return this.#closing;
  }

  async #cleanUp(): Promise<void> {
    const data = this.#stream();
    if (!data.lost.aborted) {
      await data.ask({ connection_cleanup: {} }, CLEANUP_DEADLINE_MS).catch(() => undefined);
      await data.end(CLEANUP_DEADLINE_MS);
    }
    this.#disconnect();
  }

  /** Ends every call and stream in hand with CANCELLED. */
  #disconnect(): void {
    for (const call of this.#open) call.cancel();
    this.#driver.close();
  }

  /** Opened at its first use. */
  #stream(): DataStream {
    if (this.#data === null) {
      const stream = this.#streamer.datapath(this.#metadata);
      this.#open.add(stream);
      this.#data = new DataStream(stream);
    }
    return this.#data;
  }

  async #init(namespace: string): Promise<void> {
    const { init } = await this.#stream().ask(
      {
        init: {
          job_config: new Uint8Array(),
          ray_init_kwargs: JSON.stringify({
            namespace,
            _skip_env_hook: true,
            log_to_driver: false,
          }),
          // A broken stream is cleaned up at once: the next session has an id of its own.
          reconnect_grace_period: 0,
        },
      },
      INIT_DEADLINE_MS,
    );
    if (init?.ok !== true) throw initFailed(init?.msg ?? '');
    const { connection_info: info } = await this.#stream().ask(
      { connection_info: {} },
      INFO_DEADLINE_MS,
    );
    if (info === undefined) throw new RayFailure('init failed: the head names no version');
    this.rayVersion = info.ray_version;
    this.pythonVersion = info.python_version === '' ? null : info.python_version;
  }
}
