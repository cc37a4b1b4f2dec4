/**
 * One session with a Ray head: a Datapath stream that the head answers with a Python process of its own, and calls
 * that carry the same client id. It costs the head about 100 MB and a second or two to start, so a service holds one.
 */
import { randomBytes } from 'node:crypto';
import { Metadata } from '@grpc/grpc-js';
import { DataStream } from './data-stream.js';
import type { RayAddress } from './ray-address.js';
import { RayChannel } from './ray-channel.js';
import { initFailed, RayFailure, toRayFailure } from './ray-failure.js';
import type { ClusterInfoResponse, ClusterInfoType } from './ray-protocol.js';

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
  readonly #channel: RayChannel;
  readonly #metadata: Metadata;
  readonly #data: DataStream;
  #rayVersion = '';
  #pythonVersion: string | null = null;
  #closing: Promise<void> | null = null;

  /** Rejects with a `RayFailure`; then nothing of the session is left. */
  static async open(options: RaySessionOptions): Promise<RaySession> {
    const channel = new RayChannel(options.address);
    const stop = () => {
      channel.close();
    };
    options.signal.addEventListener('abort', stop, { once: true });
    try {
      const metadata = sessionMetadata(options.token);
      await ping(channel, metadata);
      const session = new RaySession(channel, metadata);
      await session.#init(options.namespace);
      return session;
    } catch (error) {
      channel.close();
      throw toRayFailure(error);
    } finally {
      options.signal.removeEventListener('abort', stop);
    }
  }

  private constructor(channel: RayChannel, metadata: Metadata) {
    this.#channel = channel;
    this.#metadata = metadata;
    this.#data = new DataStream(channel.datapath(metadata));
  }

  get rayVersion(): string {
    return this.#rayVersion;
  }

  get pythonVersion(): string | null {
    return this.#pythonVersion;
  }

  /** Aborted with a `RayFailure` when the session is gone. A session that is gone never comes back. */
  get lost(): AbortSignal {
    return this.#data.lost;
  }

  /** Rejects with a `RayFailure`. */
  async ask(type: ClusterInfoType, deadlineMs: number): Promise<ClusterInfoResponse> {
    try {
      return await this.#channel.clusterInfo(type, this.#metadata, deadlineMs);
    } catch (error) {
      throw toRayFailure(error, deadlineMs);
    }
  }

  /** Lets the head end the process it holds for the session. Never rejects; takes two seconds at most. */
  close(): Promise<void> {
    this.#closing ??= this.#cleanUp();
    return this.#closing;
  }

  async #cleanUp(): Promise<void> {
    if (!this.lost.aborted) {
      await this.#data.ask({ connection_cleanup: {} }, CLEANUP_DEADLINE_MS).catch(() => undefined);
      await this.#data.end(CLEANUP_DEADLINE_MS);
    }
    this.#channel.close();
  }

  async #init(namespace: string): Promise<void> {
    const { init } = await this.#data.ask(
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
    const { connection_info: info } = await this.#data.ask(
      { connection_info: {} },
      INFO_DEADLINE_MS,
    );
    if (info === undefined) throw new RayFailure('init failed: the head names no version');
    this.#rayVersion = info.ray_version;
    this.#pythonVersion = info.python_version === '' ? null : info.python_version;
  }
}

/** Answered without a session: tells a head from a port where nothing, or something else, listens. */
async function ping(channel: RayChannel, metadata: Metadata): Promise<void> {
  try {
    await channel.clusterInfo('PING', metadata, PING_DEADLINE_MS);
  } catch (error) {
    throw toRayFailure(error, PING_DEADLINE_MS);
  }
}

function sessionMetadata(token: string | null): Metadata {
  const metadata = new Metadata();
  metadata.set('client_id', randomBytes(16).toString('hex'));
  metadata.set('reconnecting', 'False');
  if (token !== null) metadata.set('authorization', `Bearer ${token}`);
  return metadata;
}
