/** One connection to the client server of a Ray head. */
import * as grpc from '@grpc/grpc-js';
import type { RayAddress } from './ray-address.js';
import {
  rayProtocol,
  type ClusterInfoResponse,
  type ClusterInfoType,
  type Datapath,
  type DriverClient,
  type StreamerClient,
} from './ray-protocol.js';

/** A NODES answer grows with every node that ever was; gRPC's own limit is 4 MiB. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

const CHANNEL_OPTIONS: grpc.ClientOptions = {
  'grpc.max_receive_message_length': MAX_ANSWER_BYTES,
  // Ray's own clients go straight to the cluster too, whatever http_proxy says.
  'grpc.enable_http_proxy': 0,
  // Else each connection asks the name server for a TXT record first.
  'grpc.service_config_disable_resolution': 1,
  // Else a new session would inherit the back-off of the connection that the last one lost.
  'grpc.use_local_subchannel_pool': 1,
};

/** Both services share it. Connects at the first call; never again after `close`. */
export class RayChannel {
  readonly #driver: DriverClient;
  readonly #streamer: StreamerClient;
  readonly #open = new Set<{ cancel(): void }>();

  constructor({ host, port }: RayAddress) {
    const protocol = rayProtocol();
    const target = `dns:${host.includes(':') ? `[${host}]` : host}:${port}`;
    const credentials = grpc.credentials.createInsecure();
    this.#driver = new protocol.RayletDriver(target, credentials, CHANNEL_OPTIONS);
    this.#streamer = new protocol.RayletDataStreamer(target, credentials, {
      channelOverride: this.#driver.getChannel(),
    });
  }

  /** Rejects with the `ServiceError` of gRPC; DEADLINE_EXCEEDED after `deadlineMs`. */
  clusterInfo(
    type: ClusterInfoType,
    metadata: grpc.Metadata,
    deadlineMs: number,
  ): Promise<ClusterInfoResponse> {
    return new Promise((resolve, reject) => {
      const deadline = Date.now() + deadlineMs;
      const call = this.#driver.clusterInfo({ type }, metadata, { deadline }, (error, response) => {
        this.#open.delete(call);
        if (error !== null) reject(error);
        else resolve(response ?? { type });
      });
      this.#open.add(call);
    });
  }

  datapath(metadata: grpc.Metadata): Datapath {
    const stream = this.#streamer.datapath(metadata);
    this.#open.add(stream);
    return stream;
  }

  /** Ends every call and stream in hand with CANCELLED. */
  close(): void {
    for (const call of this.#open) call.cancel();
    this.#driver.close();
  }
}
