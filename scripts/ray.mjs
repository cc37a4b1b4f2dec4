// A real Ray of several nodes on one machine, for tests and for the demonstration.
// Ray listens on every address a machine has: run this in a network namespace that has only `lo`.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { delimiter, dirname, join } from 'node:path';
import { networkInterfaces, tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { HOST, commandOf, end, members, startNode } from './ray-node.mjs';
import { ROOT } from './setup.mjs';

export const GCS_PORT = 6379;
export const CLIENT_PORT = 10001;
export const DASHBOARD_PORT = 8265;

/** An idle machine takes 5 s, one with 30 times as much to do as it has cores minutes. */
const START_MS = 600_000;

/** Ray notices a dead node after about 2.5 s instead of 15 s; a slow one still has 3 s for each answer. */
const QUICK_HEALTH_CHECKS = {
  RAY_health_check_initial_delay_ms: '1000',
  RAY_health_check_period_ms: '500',
  RAY_health_check_timeout_ms: '3000',
  RAY_health_check_failure_threshold: '5',
};

/**
 * Starts a head called `head` and joins the other nodes to it. `env` goes to every process of every node.
 * Rejects with the end of Ray's output if a node has not started after `START_MS`.
 */
export async function startRay({ python, nodes = [{}], env = {} }) {
  const outside = Object.keys(networkInterfaces()).filter((name) => name !== 'lo');
  if (outside.length > 0) {
    throw new Error(
      `Ray would listen on ${outside.join(', ')}: start it beneath "unshare -n" with only lo.`,
    );
  }
  const ray = new Ray(python, env);
  try {
    const [head = {}, ...others] = nodes;
    await ray.addNode({ name: 'head', ...head });
    for (const [index, node] of others.entries()) {
      await ray.addNode({ name: `n${index + 2}`, ...node });
    }
    return ray;
  } catch (error) {
    await ray.stop();
    throw error;
  }
}

class Ray {
  /** @type {Map<string, {session: number, nodeId: string, output: () => string, ended: () => boolean}>} */
  #nodes = new Map();
  #python;
  #env;
  #folder = mkdtempSync(join(tmpdir(), 'r')); // short: it becomes part of socket names
  #started = 0;
  #lastResort = () => this.#signalAll();

  constructor(python, env) {
    this.#python = python;
    this.#env = {
      ...process.env,
      RAY_USAGE_STATS_ENABLED: '0',
      RAY_memory_monitor_refresh_ms: '0',
      // The client server forks while threads of gRPC run; gRPC's fork handlers have aborted it.
      GRPC_ENABLE_FORK_SUPPORT: '0',
      ...QUICK_HEALTH_CHECKS,
      PATH: [dirname(python), dirname(process.execPath), process.env.PATH].join(delimiter),
      ...env,
    };
    process.once('exit', this.#lastResort);
  }

  get address() {
    return `ray://${HOST}:${CLIENT_PORT}`;
  }

  get dashboard() {
    return `http://${HOST}:${DASHBOARD_PORT}`;
  }

  /** Ray's id of a node, hex. */
  nodeId(name) {
    return this.#nodes.get(name)?.nodeId;
  }

  /** Starts a node and waits until the cluster counts it as alive. The name of a dead one may be used again. */
  async addNode({ name, cpus = 1, gpus = 0 }) {
    const before = name === 'head' ? new Set() : await this.aliveNodes();
    // Left by a killed head: Ray would take any other Ray on this machine for it and refuse to start.
    if (name === 'head') rmSync(join(this.#folder, 'ray_current_cluster'), { force: true });
    const role =
      name === 'head'
        ? ['--head', `--port=${GCS_PORT}`, `--ray-client-server-port=${CLIENT_PORT}`].concat(
            [`--dashboard-host=${HOST}`, `--dashboard-port=${DASHBOARD_PORT}`],
            [`--temp-dir=${this.#folder}`],
          )
        : [`--address=${HOST}:${GCS_PORT}`];
    const node = startNode({
      python: this.#python,
      env: name === 'head' ? this.#driverEnv() : this.#env,
      firstPort: 6700 + 20 * (this.#started += 1),
      flags: [...role, `--num-cpus=${cpus}`, `--num-gpus=${gpus}`, `--node-name=${name}`],
    });
    this.#nodes.set(name, node);
    node.nodeId = await this.#joined(name, node, before);
  }

  async #joined(name, node, before) {
    const deadline = Date.now() + START_MS;
    while (Date.now() < deadline && !node.ended()) {
      const alive = await this.aliveNodes().catch(() => new Set());
      for (const id of alive) if (!before.has(id)) return id;
      await sleep(100);
    }
    const how = node.ended() ? 'ended at its start' : `is not alive after ${START_MS / 1_000} s`;
    throw new Error(`Ray's node ${name} ${how}:\n${node.output()}`);
  }

  /** Ids of the nodes that the cluster counts as alive. Rejects when the head does not answer in 3 s. */
  async aliveNodes() {
    const token = this.#env.RAY_AUTH_TOKEN;
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const health = await get('/api/gcs_healthz', headers);
    if (health.status !== 200) throw new Error(`Ray's head answers ${health.status}.`);
    const { status, body } = await get('/api/v0/nodes?limit=10000', headers);
    if (status !== 200) throw new Error(`Ray's node list answers ${status}.`);
    const rows = JSON.parse(body).data.result.result;
    return new Set(rows.filter((row) => row.state === 'ALIVE').map((row) => row.node_id));
  }

  /** Resolves with the milliseconds it took until `count` nodes were alive; rejects after `timeoutMs`. */
  async waitForNodes(count, timeoutMs = 60_000) {
    const start = Date.now();
    for (;;) {
      const alive = await this.aliveNodes().catch(() => undefined);
      if (alive?.size === count) return Date.now() - start;
      if (Date.now() - start > timeoutMs) {
        throw new Error(
          `${alive?.size ?? 'no'} nodes are alive after ${timeoutMs} ms, not ${count}.`,
        );
      }
      await sleep(50);
    }
  }

  /** Process ids of a node, of those whose name is `command` when given. */
  processes(name, command) {
    const node = this.#nodes.get(name);
    if (node === undefined) throw new Error(`There is no node ${name}.`);
    return members(node.session).filter(
      (pid) => command === undefined || commandOf(pid) === command,
    );
  }

  /** SIGKILL to the node's raylet alone: Ray ends the rest by itself. */
  killRaylet(name) {
    const raylets = this.processes(name, 'raylet');
    if (raylets.length === 0) throw new Error(`Node ${name} has no raylet.`);
    for (const pid of raylets) end(pid);
  }

  /** Simulates a power loss: SIGKILL to all processes of the node at once. Resolves when none is left. */
  async kill(name) {
    const deadline = Date.now() + 10_000;
    // Twice in a row: a process may have been started during the first look.
    for (let clear = 0; clear < 2;) {
      const left = this.processes(name);
      clear = left.length === 0 ? clear + 1 : 0;
      if (Date.now() > deadline) throw new Error(`Processes of ${name} do not end: ${left.join()}`);
      for (const pid of left) end(pid);
      await sleep(20);
    }
    this.#nodes.delete(name);
  }

  /** Runs `python -m lattice_ray ARGS` as a driver on the head's machine. Resolves whatever its exit code is. */
  cli(args, { timeoutMs = 120_000 } = {}) {
    return new Promise((resolve, reject) => {
      const child = spawn(this.#python, ['-m', 'lattice_ray', ...args], {
        env: { ...this.#driverEnv(), RAY_ADDRESS: `${HOST}:${GCS_PORT}` },
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: timeoutMs,
        killSignal: 'SIGKILL',
      });
      let stdout = '';
      let stderr = '';
      child.stdout.on('data', (chunk) => (stdout += chunk));
      child.stderr.on('data', (chunk) => (stderr += chunk));
      child.once('error', reject);
      child.once('close', (code, signal) => {
        resolve({ code: code ?? signal, stdout, stderr });
      });
    });
  }

  /** Starts the workers; resolves with the output, rejects with it if a worker does not run. */
  async up(args) {
    return succeeded('up', await this.cli(['up', ...args]));
  }

  /** Removes the workers; resolves with the output. */
  async down(args = []) {
    return succeeded('down', await this.cli(['down', ...args]));
  }

  /** The workers of a namespace, by number. */
  async workers(namespace = 'lattice') {
    const args = ['status', '--json', '--namespace', namespace];
    return JSON.parse(succeeded('status', await this.cli(args))).workers;
  }

  /** Ends every process of every node and removes Ray's folder. */
  async stop() {
    // The head last: a node that loses it logs pages of errors.
    for (const name of [...this.#nodes.keys()].reverse()) await this.kill(name);
    process.removeListener('exit', this.#lastResort);
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }

  /** Commands and jobs that the head starts have our package on their path; the other nodes must work without it. */
  #driverEnv() {
    return { ...this.#env, PYTHONPATH: join(ROOT, 'cluster') };
  }

  #signalAll() {
    for (const { session } of this.#nodes.values()) members(session).forEach(end);
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}

function succeeded(verb, { code, stdout, stderr }) {
  if (code !== 0) throw new Error(`lattice_ray ${verb} ended with ${code}:\n${stdout}${stderr}`);
  return stdout;
}

function get(path, headers) {
  return new Promise((resolve, reject) => {
    const where = { host: HOST, port: DASHBOARD_PORT, path, headers, timeout: 3_000 };
    const asked = request(where, (answer) => {
      let body = '';
      answer.on('data', (chunk) => (body += chunk));
      answer.once('end', () => resolve({ status: answer.statusCode, body }));
      answer.once('error', reject);
    });
    asked.once('timeout', () => asked.destroy(new Error(`${path} did not answer in 3 s`)));
    asked.once('error', reject);
    asked.end();
  });
}
