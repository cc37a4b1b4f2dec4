/** A cluster over a fake head, its log, and an end for both after each test. */
import { afterEach } from 'vitest';
import { parseRayAddress } from '../../../src/clusters/ray/ray-address.js';
import { RayCluster, type RayClusterOptions } from '../../../src/clusters/ray/ray-cluster.js';
import { FakeRayHead } from './fake-ray-head.js';

export interface Logged {
  level: string;
  message: string;
  reason?: unknown;
}

export const logged: Logged[] = [];
const log = (level: string) => (fields: object, message: string) => {
  logged.push({ level, message, ...fields });
};
const logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };

export const releases: (() => unknown)[] = [];
afterEach(async () => {
  for (const release of releases.splice(0).reverse()) await release();
  logged.length = 0;
});

export async function startHead(): Promise<FakeRayHead> {
  const head = await FakeRayHead.start();
  releases.push(() => {
    head.kill();
  });
  return head;
}

export const QUICK = {
  poll: 100,
  deadline: 150,
  leastBackOff: 20,
  mostBackOff: 60,
};

export function cluster(address: string, options: Partial<RayClusterOptions> = {}): RayCluster {
  const made = new RayCluster({
    address: parseRayAddress(address),
    namespace: 'blue',
    tokenFile: '',
    jobs: { counts: () => Promise.resolve({ pending: 4, running: 2, queuedImages: 9 }) },
    logger,
    onNodes: () => undefined,
    times: QUICK,
    ...options,
  });
  releases.push(() => made.close());
  return made;
}

export const detailOf = (ray: RayCluster): Promise<string> =>
  ray.status().then(
    () => 'a status',
    (error: unknown) => (error as Error).message,
  );
