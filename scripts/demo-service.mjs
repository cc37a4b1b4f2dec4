// The service as demonstrations start it: a separate process, and calls to it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from './setup.mjs';

/** For each step of a demonstration. A machine with 30 times as much to do as it has cores takes minutes for some. */
export const PATIENCE_MS = 600_000;
const STOP_MS = 30_000;

/** Resolves once the service listens. Rejects with its output if it ends first, and after `PATIENCE_MS`. */
export async function startService({ args, env }) {
  const child = spawn(process.execPath, ['dist/cli/lattice.js', 'serve', ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const service = new Service(child);
  const deadline = Date.now() + PATIENCE_MS;
  while (service.url === null) {
    const isLate = Date.now() > deadline;
    if (child.exitCode !== null || child.signalCode !== null || isLate) {
      child.kill('SIGKILL');
      const how = isLate ? `did not listen within ${PATIENCE_MS / 1_000} s` : 'ended at its start';
      throw new Error(`the service ${how}:\n${service.output}`);
    }
    await sleep(20);
  }
  return service;
}

class Service {
  /** Null until it listens. */
  url = null;
  #child;
  #output = '';

  constructor(child) {
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        this.#output = (this.#output + chunk).slice(-8_000);
        this.url ??= /listening on (http:\/\/\S+)/.exec(this.#output)?.[1] ?? null;
      });
    }
  }

  /** The end of its output. */
  get output() {
    return this.#output;
  }

  /** Body of the answer to a GET, or with `body` to a POST. Rejects with the detail of the problem. */
  async ask(path, body) {
    const post = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
    const init = { signal: AbortSignal.timeout(PATIENCE_MS), ...(body === undefined ? {} : post) };
    const response = await fetch(`${this.url}${path}`, init);
    const text = await response.text();
    const isJson = (response.headers.get('content-type') ?? '').includes('json');
    const answer = isJson ? JSON.parse(text) : text;
    if (!response.ok) throw new Error(`${path}: ${response.status} ${answer.detail ?? ''}`);
    return answer;
  }

  kill() {
    this.#child.kill('SIGKILL');
  }

  /** Drains the service; kills it after 30 s. */
  async stop() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const killing = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS);
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
    clearTimeout(killing);
  }
}
