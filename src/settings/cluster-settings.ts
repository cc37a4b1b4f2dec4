/** The settings of a Ray cluster and of worker processes; part of `settings`. */
import { z } from 'zod';

export const clusterSettings = {
  cluster: z
    .enum(['auto', 'local', 'ray'])
    .default('auto')
    .describe(
      'where images are processed; local: in this process; auto: ray when rayAddress is set, else local',
    ),
  rayAddress: z
    .string()
    .default('')
    .describe('address of the client server on the head of the Ray cluster, ray://HOST:10001'),
  rayNamespace: z
    .string()
    .regex(/^[A-Za-z0-9._-]+$/)
    .default('lattice')
    .describe('Ray namespace of the workers'),
  rayTokenFile: z
    .string()
    .default('')
    .describe('file with the token of a Ray cluster that requires one'),
  rayDashboard: z
    .string()
    .default('')
    .describe(
      'address of the Ray dashboard, http://HOST:8265, through which the service starts the workers; empty: start them with lattice_ray up',
    ),
  rayWorkers: z
    .string()
    .regex(/^(auto|[1-9]\d*)$/)
    .default('auto')
    .describe(
      'number of workers that the service starts; auto: one per GPU, without GPUs one per node',
    ),
  serviceUrl: z
    .string()
    .default('')
    .describe(
      'address at which workers reach this service, ws://HOST:PORT; empty: from host and port',
    ),
  workerId: z
    .string()
    .default('')
    .describe('name of a worker process in results; empty: host name and process id'),
  nodeId: z
    .string()
    .default('')
    .describe('name of the machine of a worker process; empty: its host name'),
  workerTokenFile: z
    .string()
    .default('')
    .describe(
      'file with the secret that service and workers share; required on an address other than loopback',
    ),
} as const;
