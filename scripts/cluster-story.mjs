// The steps of the cluster demonstration. Its ports are fixed, because it runs in a separate network namespace.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE_MS, startService } from './demo-service.mjs';
import { startRay } from './ray.mjs';
import { ROOT } from './setup.mjs';

const PORT = '8000';
/** One CPU per node, for one worker. */
const N2 = { name: 'n2', cpus: 1 };
const PICTURES = ['street.jpg', 'crossing.jpg'];
const IMAGES = 300;

/**
 * Resolves with the exit code: 0 if all of it worked, 1 if not, 130 if `stop` resolved before. Stops all processes
 * that it started. `enter`: words in front of a command that run it in this network.
 */
export async function runClusterStory({ keep, enter, stop }) {
  const story = new ClusterStory();
  let stopped = false;
  const interrupted = stop.then(() => {
    stopped = true;
    return 130;
  });
  // After a stop, errors of processes that have ended are no failure.
  const told = story.tell().catch((error) => (stopped ? 130 : story.fail(error)));
  let code = await Promise.race([interrupted, told]);
  if (code === 0 && keep) {
    story.tellHowToReachIt(enter);
    await stop;
  }
  story.say('stopping the service and Ray ...');
  await story.end().catch((error) => {
    code = story.fail(error);
  });
  story.say('everything has stopped');
  if (code === 0) console.log('\nCluster demo finished: all of it worked.');
  return code;
}

class ClusterStory {
  #startedAt = performance.now();
  #dataDir = mkdtempSync(join(tmpdir(), 'lattice-demo-'));
  #ray = null;
  #service = null;

  say(text) {
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    console.log(`${seconds.toFixed(1).padStart(5)} s  ${text.replaceAll('\n', '\n         ')}`);
  }

  fail(error) {
    console.error(`\nCluster demo failed: ${error instanceof Error ? error.message : error}`);
    if (this.#service !== null)
      console.error(`The last output of the service:\n${this.#service.output}`);
    return 1;
  }

  /** Resolves with 0; rejects with the error of the first step that failed. */
  async tell() {
    console.log(
      'Cluster demo: a Ray cluster of two nodes on this machine, in a separate network\n',
    );
    await this.#startRay();
    await this.#startService();
    await this.#showStatus();
    await this.#detectOne();
    await this.#loseANode();
    await this.#bringNodeBack();
    return 0;
  }

  tellHowToReachIt(enter) {
    const call = `${enter} curl -s http://127.0.0.1:${PORT}`;
    this.say('all of it worked; service and Ray run until Ctrl-C. In a second terminal:');
    console.log(`  ${call}/v1/cluster/status`);
    console.log(
      `  ${call}/v1/inference/detect -H 'content-type: application/json' -d '{"image_path":"street.jpg"}'\n`,
    );
  }

  async end() {
    try {
      await this.#service?.stop();
    } finally {
      await this.#ray?.stop();
      rmSync(this.#dataDir, { recursive: true, force: true });
    }
  }

  async #startRay() {
    this.say('starting Ray: a head and the node n2, one CPU each ...');
    const python = process.env.LATTICE_RAY_PYTHON;
    // Variables of this shell are for another service or cluster.
    for (const name of Object.keys(process.env)) {
      if (/^(LATTICE|RAY)_/.test(name)) delete process.env[name];
    }
    // The service and two workers share the cores of one machine: images of jobs must not wait for an idle one.
    const env = { LATTICE_JOBS_YIELD: 'false', LATTICE_LOG_LEVEL: 'warn' };
    this.#ray = await startRay({ python, nodes: [{ cpus: 1 }, N2], env });
    this.say('Ray is up with two nodes');
  }

  async #startService() {
    this.#service = await startService({
      args: ['--port', PORT],
      env: {
        LATTICE_DATA_DIR: this.#dataDir,
        LATTICE_IMAGE_ROOTS: join(ROOT, 'models/demo'),
        LATTICE_RAY_ADDRESS: this.#ray.address,
        LATTICE_RAY_DASHBOARD: this.#ray.dashboard,
        LATTICE_LOG_LEVEL: 'warn',
      },
    });
    this.say(`the service listens on ${this.#service.url} and Ray starts its workers ...`);
    await this.#joined(2);
    this.say('two workers have joined');
  }

  async #showStatus() {
    const status = await this.#service.ask('/v1/cluster/status');
    const { cluster_version, cluster_alive, total_cpus, nodes } = status;
    this.say(
      `GET /v1/cluster/status: Ray ${cluster_version}, alive: ${cluster_alive}, CPUs: ${total_cpus}`,
    );
    console.table(
      nodes.map(({ node_id, alive, resources }) => ({
        node: this.#nameOf(node_id),
        node_id: `${node_id.slice(0, 12)}...`,
        alive,
        CPU: resources.CPU,
        worker: this.#workersOn(status, node_id).join(', '),
      })),
    );
  }

  async #detectOne() {
    const path = '/v1/inference/detect';
    const answer = await this.#service.ask(path, { image_path: PICTURES[0] });
    if (answer.detections.length === 0) throw new Error(`nothing was found on ${PICTURES[0]}`);
    const ms = answer.processing_time_ms.toFixed(1);
    this.say(`POST ${path} ${PICTURES[0]}: ${ms} ms on ${answer.worker_id}`);
    console.table(
      answer.detections.map(({ class: name, confidence, box }) => ({
        class: name,
        confidence: confidence.toFixed(3),
        box: box.map((side) => side.toFixed(1)).join(', '),
      })),
    );
  }

  async #loseANode() {
    const paths = Array.from({ length: IMAGES }, (_, index) => PICTURES[index % PICTURES.length]);
    const job = { job_type: 'detect_vehicles', image_paths: paths };
    const { job_id: id } = await this.#service.ask('/v1/jobs/submit', job);
    this.say(`POST /v1/jobs/submit: a job of ${IMAGES} images`);
    const reached = (count) =>
      this.#until(`${count} images are done`, async () => {
        const { finished_images: done, status } = await this.#service.ask(`/v1/jobs/${id}/status`);
        if (status === 'failed') throw new Error(`the job failed after ${done} images`);
        return done >= count && done;
      });
    const done = await reached(IMAGES / 4);
    if (done === IMAGES) throw new Error('the job was over before a node could be killed');
    const [worker] = this.#workersOn(await this.#service.ask('/v1/cluster/status'), this.#n2());
    const processes = this.#ray.processes(N2.name).length;
    await this.#ray.kill(N2.name);
    this.say(
      `kill -9 of the whole node n2, ${processes} processes with ${worker}, at ${done} images`,
    );
    await this.#joined(1);
    this.say(`the service has noticed; ${this.#requeued(await this.#metrics())}`);
    await reached(IMAGES);
    const { result } = await this.#until('the job has ended', () =>
      this.#service.ask(`/v1/jobs/${id}/result`).catch(() => null),
    );
    checkResult(result, paths);
    this.say(`the job has ended: ${result.succeeded} of ${IMAGES} images, each once, in order`);
    console.table(imagesByWorker(result));
  }

  async #bringNodeBack() {
    this.say('starting the node n2 again ...');
    await this.#ray.addNode(N2);
    this.say('n2 is back; Ray starts its worker again ...');
    await this.#joined(2);
    this.say('two workers again');
    await this.#showStatus();
  }

  #n2() {
    return this.#ray.nodeId(N2.name);
  }

  #nameOf(nodeId) {
    return ['head', N2.name].find((name) => this.#ray.nodeId(name) === nodeId) ?? 'n2, killed';
  }

  #workersOn({ workers }, nodeId) {
    return workers.filter((each) => each.node_id === nodeId).map((each) => each.worker_id);
  }

  #metrics() {
    return this.#service.ask('/metrics');
  }

  #requeued(metrics) {
    const count =
      /^lattice_worker_events_total\{event="requeued"\} (\d+)$/m.exec(metrics)?.[1] ?? '?';
    return `images it gave to another worker: ${count}`;
  }

  async #joined(count) {
    const ready = new RegExp(`^lattice_workers\\{state="ready"\\} ${count}$`, 'm');
    await this.#until(`${count} workers serve`, async () => ready.test(await this.#metrics()));
  }

  /** The first answer of `ask` that is not empty. Rejects after `PATIENCE_MS`. */
  async #until(what, ask) {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const answer = await ask();
      if (answer) return answer;
      if (Date.now() > deadline) throw new Error(`not within ${PATIENCE_MS / 1_000} s: ${what}`);
      await sleep(20);
    }
  }
}

function checkResult(result, paths) {
  const given = result.images.map(({ image_path }) => image_path);
  if (given.join() !== paths.join()) throw new Error('the result is not the images of the job');
  const expected = new Map(
    result.images.slice(0, PICTURES.length).map((image) => [image.image_path, image.total_count]),
  );
  for (const { image_path, status, total_count } of result.images) {
    if (status !== 'ok') throw new Error(`an image of the job failed: ${image_path}`);
    if (total_count !== expected.get(image_path))
      throw new Error(`${image_path} has other boxes than before`);
  }
}

function imagesByWorker({ images }) {
  const counts = new Map();
  for (const { worker_id } of images) counts.set(worker_id, (counts.get(worker_id) ?? 0) + 1);
  return [...counts].sort().map(([worker, count]) => ({ worker, images: count }));
}
