/** `ray_client.proto` as types and as the classes of gRPC. */
import { join } from 'node:path';
import * as grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { PACKAGE_ROOT } from '../../base/package.js';

export type ClusterInfoType =
  'IS_INITIALIZED' | 'NODES' | 'CLUSTER_RESOURCES' | 'AVAILABLE_RESOURCES' | 'PING';

export interface ClusterInfoResponse {
  type: string;
  json?: string;
  resource_table?: { table?: Record<string, number> };
}

/** Exactly one field besides `req_id` is set. */
export interface DataRequest {
  req_id: number;
  init?: { job_config: Uint8Array; ray_init_kwargs: string; reconnect_grace_period: number };
  connection_info?: object;
  connection_cleanup?: object;
}

/** Exactly one field besides `req_id` is set. */
export interface DataResponse {
  req_id: number;
  init?: { ok: boolean; msg: string };
  connection_info?: {
    num_clients: number;
    ray_version: string;
    ray_commit: string;
    python_version: string;
  };
  connection_cleanup?: object;
}

export type Datapath = grpc.ClientDuplexStream<DataRequest, DataResponse>;

export interface DriverClient extends grpc.Client {
  clusterInfo(
    request: { type: ClusterInfoType },
    metadata: grpc.Metadata,
    options: grpc.CallOptions,
    done: (error: grpc.ServiceError | null, response?: ClusterInfoResponse) => void,
  ): grpc.ClientUnaryCall;
}

export interface StreamerClient extends grpc.Client {
  datapath(metadata: grpc.Metadata): Datapath;
}

type ClientClass<T> = (new (
  target: string,
  credentials: grpc.ChannelCredentials,
  options: grpc.ClientOptions,
) => T) & { service: grpc.ServiceDefinition };

export interface RayProtocol {
  RayletDriver: ClientClass<DriverClient>;
  RayletDataStreamer: ClientClass<StreamerClient>;
}

let loaded: RayProtocol | null = null;

/** The services of `ray_client.proto`, read once from the package's source folder. */
export function rayProtocol(): RayProtocol {
  loaded ??= load();
  return loaded;
}

function load(): RayProtocol {
  const file = join(PACKAGE_ROOT, 'src', 'clusters', 'ray', 'ray_client.proto');
  const definition = loadSync(file, {
    keepCase: true,
    enums: String,
    defaults: true,
    oneofs: true,
  });
  const { ray } = grpc.loadPackageDefinition(definition) as unknown as {
    ray: { rpc: RayProtocol };
  };
  return ray.rpc;
}
