/** A worker's connection when it is stopped or fails at an inconvenient moment. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceLink, type ServiceLinkParts } from '../../../src/execution/far/service-link.js';
import { ScriptedDetector } from '../../support/scripted-detector.js';
import { BUILD, openWorkerRig, type WorkerRig } from '../../support/worker-rig.js';
import { until } from '../../support/eventually.js';
import { silent } from '../../support/silent-logger.js';

let rig: WorkerRig;
let warnings: string[];
beforeEach(async () => {
  warnings = [];
  rig = await openWorkerRig();
});
afterEach(() => rig.close());

function openLink(parts: Partial<ServiceLinkParts> = {}): ServiceLink {
  const warn = (fields: object, message: string) => {
    warnings.push(`${message} ${JSON.stringify(fields)}`);
  };
  return new ServiceLink({
    serviceUrl: rig.server.url.replace('http', 'ws'),
    token: () => null,
    build: BUILD,
    workerId: 'worker-0',
    nodeId: 'node-1',
    roots: () => Promise.resolve([]),
    detector: new ScriptedDetector(),
    modelDigests: () => ({}),
    maxImageBytes: 1024 * 1024,
    logger: { ...silent, warn },
    backoffMs: 20,
    ...parts,
  });
}

const inTime = (served: Promise<void>) => Promise.race([served.then(() => 'ended'), sleep(2_000)]);

describe('stop', () => {
  it('during the check of the image roots: it does not connect any more', async () => {
    let look: (roots: []) => void = () => undefined;
    const looked = new Promise<[]>((resolve) => {
      look = resolve;
    });
    const link = openLink({ roots: () => looked });
    const served = link.serve();
    await link.stop(0);
    look([]);
    expect(await inTime(served)).toBe('ended');
    expect(rig.detector.workers()).toEqual([]);
  });

  it('during the wait before it reconnects', async () => {
    const link = openLink({ serviceUrl: 'ws://127.0.0.1:9', backoffMs: 60_000 });
    const served = link.serve();
    await until(() => warnings.length === 1, 'the first attempt failed');
    await link.stop(0);
    expect(await inTime(served)).toBe('ended');
  });

  it('of a worker that serves logs no warning', async () => {
    const link = openLink();
    const served = link.serve();
    await until(() => rig.detector.workers().length === 1, 'joined');
    await link.stop(1_000);
    expect(await inTime(served)).toBe('ended');
    expect(warnings).toEqual([]);
  });
});

describe('a failure before the connection is one failed attempt', () => {
  it.each<[string, Partial<ServiceLinkParts>, string]>([
    ['a token file that cannot be read', { token: fail('ENOENT: token') }, 'ENOENT: token'],
    [
      'roots that cannot be checked',
      { roots: () => Promise.reject(new Error('no roots')) },
      'no roots',
    ],
    ['an address that is none', { serviceUrl: 'nowhere' }, 'Invalid URL'],
  ])('%s', async (_what, parts, named) => {
    const link = openLink(parts);
    const served = link.serve();
    await until(() => warnings.length >= 2, 'tried again');
    expect(warnings[0]).toContain(named);
    await link.stop(0);
    expect(await inTime(served)).toBe('ended');
  });
});

it('tells why it is not connected once, and the next connection', async () => {
  const lines: string[] = [];
  await rig.close();
  rig = await openWorkerRig({ token: 'the-token' });
  let token = 'wrong';
  const link = openLink({
    token: () => token,
    report: (line) => lines.push(line),
    refusedWaitMs: 20,
  });
  const served = link.serve();
  await until(() => warnings.length >= 2, 'refused twice');
  token = 'the-token';
  await until(() => rig.detector.workers().length === 1, 'joined');
  await link.stop(0);
  await served;
  const url = rig.server.url.replace('http', 'ws');
  const why =
    'the service answered 401, the file LATTICE_WORKER_TOKEN_FILE must be the same on all machines';
  expect(lines).toEqual([`not connected to ${url}: ${why}`, `connected to ${url}`]);
});

function fail(message: string): () => never {
  return () => {
    throw new Error(message);
  };
}
