/**
 * The promises of a service with two worker processes, whatever starts them: all routes, and no image lost with a
 * worker.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { routeConformance } from './route-conformance.js';
import { call, DEMO, detect, expectVehicles, resultOf, submit } from './service-client.js';
import { PROJECT_ROOT, type ServiceProcess } from './service-process.js';
import { HANG_MS } from './eventually.js';

export interface WorkersUnderTest {
  /** A service with two ready workers. Logs at level info; its sync deadline is longer than a hang goes unnoticed. */
  open: (imageRoots: string) => Promise<ServiceProcess>;
  nodes: number;
  /** Number of images of the job during which a worker is lost. */
  images: number;
  workerIds: [string, string];
}

/** For the environment of the workers: see worker-faults.mjs. */
export const WORKER_FAULTS = {
  NODE_OPTIONS: `--import=${pathToFileURL(join(PROJECT_ROOT, 'test/support/worker-faults.mjs')).href}`,
};

export function workerConformance(subject: WorkersUnderTest): void {
  const { open, nodes, images, workerIds } = subject;

  describe('the routes', () => {
    const workerId = expect.stringMatching(new RegExp(`^(${workerIds.join('|')})$`)) as unknown;
    routeConformance({ open, nodes, workers: 2, workerId });
  });

  describe('a worker lost during a job and synchronous calls', () => {
    const paths = Array.from({ length: images }, (_, index) =>
      index % 100 === 7 ? `absent-${index}.png` : 'shapes.png',
    );
    const absent = paths.filter((path) => path !== 'shapes.png').length;
    let service: ServiceProcess;
    beforeAll(async () => {
      service = await open(DEMO);
    });
    afterAll(() => service[Symbol.asyncDispose]());
    beforeEach(() => workersReady(service, 2));

    test.each<[string, NodeJS.Signals]>([
      ['killed', 'SIGKILL'],
      ['gone with exit code 69, as when its GPU is lost', 'SIGUSR2'],
      ['hanging', 'SIGSTOP'],
    ])('%s: each image once, the other worker goes on', async (what, signal) => {
      // The line in the log may come after the worker is ready.
      await expect.poll(() => runs(pidOf(service, workerIds[0]))).toBe(true);
      const victim = pidOf(service, workerIds[0]);
      const jobId = await submit(service.url, { image_paths: paths });
      const finished = async () =>
        (await call(service.url, `/v1/jobs/${jobId}/status`)).body.finished_images;
      while ((await finished()) < images / 10) await sleep(5);
      expect(await finished(), 'the job is still running').toBeLessThan(images);
      const load = startSyncLoad(service.url);
      process.kill(victim, signal);
      const lostAt = performance.now();
      const after = () => `${((performance.now() - lostAt) / 1_000).toFixed(2)} s`;
      await workersReady(service, 1);
      console.log(`worker ${what}: noticed after ${after()}`);
      // The other worker goes on before this one is back.
      await expect.poll(finished).toBeGreaterThan(images / 10);
      await workersReady(service, 2);
      console.log(`worker ${what}: two workers again after ${after()}`);
      await expect.poll(() => pidOf(service, workerIds[0])).not.toBe(victim);
      const { result } = await resultOf(service.url, jobId);
      console.log(`worker ${what}: job of ${images} complete after ${after()}`);
      expect(result.images.map(({ image_path }) => image_path)).toEqual(paths);
      for (const image of result.images) {
        if (image.image_path === 'shapes.png') expectVehicles(image.detections);
        else expect(image).toMatchObject({ status: 'error', error: { code: 'image_not_found' } });
      }
      expect(result).toMatchObject({ succeeded: images - absent, failed: absent });
      const answers = await load.stop();
      console.log(`worker ${what}: ${answers.length} synchronous calls answered`);
      expect(new Set(answers)).toEqual(new Set([200]));
    });
  });
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Id of the process that joined last under this name. */
function pidOf(service: ServiceProcess, workerId: string): number {
  const lines = service.output().split('\n');
  const joined = lines.findLast(
    (line) => line.includes('"a worker joined"') && line.includes(`"workerId":"${workerId}"`),
  );
  return (JSON.parse(joined ?? '{}') as { workerPid: number }).workerPid;
}

/** Two callers, each with one call at a time. */
function startSyncLoad(url: string): { stop(): Promise<number[]> } {
  const statuses: number[] = [];
  let goesOn = true;
  const call = async () => {
    while (goesOn) statuses.push((await detect(url)).status);
  };
  const callers = [call(), call()];
  return {
    async stop() {
      goesOn = false;
      await Promise.all(callers);
      return statuses;
    },
  };
}

/** As the metrics count them, which do not depend on the head of a cluster. */
export async function workersReady(service: ServiceProcess, count: number): Promise<void> {
  const deadline = performance.now() + HANG_MS;
  for (;;) {
    const { text } = await call(service.url, '/metrics');
    const ready = Number(/^lattice_workers\{state="ready"\} (\d+)$/m.exec(text)?.[1] ?? 0);
    if (ready === count) return;
    if (performance.now() > deadline) {
      throw new Error(`${ready} workers, not ${count}, after ${HANG_MS} ms:\n${service.output()}`);
    }
    await sleep(10);
  }
}
