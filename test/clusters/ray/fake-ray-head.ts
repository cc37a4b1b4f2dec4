/** The client server of a Ray head, as far as a status goes: the refusals are those of Ray 2.60. */
import { once } from 'node:events';
import * as grpc from '@grpc/grpc-js';
import {
  rayProtocol,
  type ClusterInfoResponse,
  type ClusterInfoType,
  type DataRequest,
  type DataResponse,
} from '../../../src/clusters/ray/ray-protocol.js';

type Stream = grpc.ServerDuplexStream<DataRequest, DataResponse>;
type InfoCall = grpc.ServerUnaryCall<{ type: ClusterInfoType }, ClusterInfoResponse>;

export interface FakeNode {
  NodeID: string;
  Alive: boolean;
  Resources: Record<string, number>;
}

const refuse = (code: grpc.status, details: string): Partial<grpc.StatusObject> => ({
  code,
  details,
  metadata: new grpc.Metadata(),
});

export class FakeRayHead {
  rayVersion = '2.60.0';
  nodes: FakeNode[] = [{ NodeID: 'aa', Alive: true, Resources: { CPU: 4, GPU: 1 } }];
  total: Record<string, number> = { CPU: 4, GPU: 1 };
  available: Record<string, number> = { CPU: 3, GPU: 1 };
  /** The answer of `init` in place of ok. */
  initFailure: string | null = null;
  token: string | null = null;
  /** Questions that get no answer. */
  readonly silent = new Set<ClusterInfoType | 'init'>();
  readonly asked: ClusterInfoType[] = [];
  readonly clientIds: string[] = [];
  readonly inits: NonNullable<DataRequest['init']>[] = [];
  cleanups = 0;
  readonly #streams = new Map<string, Stream>();
  #server = new grpc.Server();
  #port = 0;

  static async start(): Promise<FakeRayHead> {
    const head = new FakeRayHead();
    await head.listen();
    return head;
  }

  get address(): string {
    return `ray://127.0.0.1:${this.#port}`;
  }

  get sessions(): number {
    return this.#streams.size;
  }

  /** On the same port as before, where there was one. */
  async listen(): Promise<void> {
    const { RayletDriver, RayletDataStreamer } = rayProtocol();
    this.#server = new grpc.Server();
    this.#server.addService(RayletDriver.service, {
      ClusterInfo: (call: InfoCall, done: grpc.sendUnaryData<ClusterInfoResponse>) => {
        this.#clusterInfo(call, done);
      },
    });
    this.#server.addService(RayletDataStreamer.service, {
      Datapath: (stream: Stream) => {
        this.#datapath(stream);
      },
    });
    this.#port = await new Promise((resolve, reject) => {
      const credentials = grpc.ServerCredentials.createInsecure();
      this.#server.bindAsync(`127.0.0.1:${this.#port}`, credentials, (error, port) => {
        if (error === null) resolve(port);
        else reject(error);
      });
    });
  }

  /** It keeps its connections and answers no question. */
  silence(): void {
    for (const type of ['PING', 'NODES', 'CLUSTER_RESOURCES', 'AVAILABLE_RESOURCES'] as const)
      this.silent.add(type);
  }

  endStreams(): void {
    for (const stream of this.#streams.values()) stream.end();
    this.#streams.clear();
  }

  /** As a killed process: connections break at once. */
  kill(): void {
    this.#server.forceShutdown();
    this.#streams.clear();
  }

  #refusal(metadata: grpc.Metadata): Partial<grpc.StatusObject> | null {
    const [given] = metadata.get('authorization');
    return this.token === null || given === `Bearer ${this.token}`
      ? null
      : refuse(grpc.status.UNAUTHENTICATED, 'Invalid or missing authentication token');
  }

  #clusterInfo(
    { request, metadata }: InfoCall,
    done: grpc.sendUnaryData<ClusterInfoResponse>,
  ): void {
    const { type } = request;
    this.asked.push(type);
    const refusal = this.#refusal(metadata);
    if (refusal !== null) done(refusal);
    else if (this.silent.has(type)) return;
    else if (type === 'PING') done(null, { type: 'IS_INITIALIZED', json: '{}' });
    else if (!this.#streams.has(String(metadata.get('client_id')[0]))) {
      done(refuse(grpc.status.NOT_FOUND, 'Failed to serialize response!'));
    } else if (type === 'NODES') done(null, { type, json: JSON.stringify(this.nodes) });
    else {
      const table = type === 'CLUSTER_RESOURCES' ? this.total : this.available;
      done(null, { type, resource_table: { table } });
    }
  }

  #datapath(stream: Stream): void {
    const refusal = this.#refusal(stream.metadata);
    const [clientId] = stream.metadata.get('client_id');
    const reconnecting = stream.metadata.get('reconnecting')[0];
    if (refusal !== null) {
      stream.emit('error', refusal);
      return;
    }
    if (typeof clientId !== 'string' || reconnecting !== 'False') {
      stream.emit('error', refuse(grpc.status.NOT_FOUND, 'Failed to serialize response!'));
      return;
    }
    this.clientIds.push(clientId);
    stream.on('data', (request: DataRequest) => {
      this.#answer(stream, clientId, request);
    });
    const forget = () => {
      if (this.#streams.get(clientId) === stream) this.#streams.delete(clientId);
    };
    stream.on('cancelled', forget);
    stream.on('end', () => {
      forget();
      stream.end();
    });
  }

  #answer(stream: Stream, clientId: string, request: DataRequest): void {
    const { req_id: id, init, connection_info, connection_cleanup } = request;
    if (init) {
      this.inits.push(init);
      if (this.silent.has('init')) return;
      const ok = this.initFailure === null;
      if (ok) this.#streams.set(clientId, stream);
      stream.write({ req_id: id, init: { ok, msg: this.initFailure ?? '' } });
    } else if (connection_info) {
      const versions = { ray_version: this.rayVersion, ray_commit: 'c', python_version: '3.11.7' };
      stream.write({ req_id: id, connection_info: { num_clients: 1, ...versions } });
    } else if (connection_cleanup) {
      this.cleanups += 1;
      stream.write({ req_id: id, connection_cleanup: {} });
    }
  }
}

/** A port where nothing listens: taken, then let go. */
export async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
