/** A real service in a process of its own, as an operator runs it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROJECT_ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The test-pattern detector under the default name: it knows what is on the bundled test pattern, to the pixel. */
export const TEST_MODELS = join(PROJECT_ROOT, 'test/support/models');
export const SHARED_TESTDATA = fileURLToPath(new URL('../../../shared/testdata', import.meta.url));
export const hasTestdata = existsSync(SHARED_TESTDATA);

/** Ends the wait for a service that hangs. A start of 1 s took 30 s at a tenth of the CPU, beside the tests on Ray. */
const LISTEN_TIMEOUT_MS = 180_000;

export interface ServiceProcess {
  url: string;
  dataDir: string;
  pid: number;
  /** Everything printed so far. */
  output(): string;
  /** The part of it that went to standard output: the log. */
  stdout(): string;
  /** Resolves with the exit code or signal name. */
  exited: Promise<number | string>;
  kill(signal?: NodeJS.Signals): Promise<number | string>;
  /** Stops the process and removes a data folder made here. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ServiceOptions {
  env?: Record<string, string>;
  /** Kept at the end; without one a folder is made and removed. */
  dataDir?: string;
  timeoutMs?: number;
  /** More flags of `serve`. */
  flags?: string[];
  /** Limit of open files and connections of the service. */
  openFiles?: number;
  /** Starts the service in place of the command line, beneath the project. */
  script?: string;
  /** Another checkout, built, whose service is started. */
  project?: string;
}

/** Starts `lattice serve` on a free loopback port; rejects with its output when it ends before it listens. */
export async function startService(options: ServiceOptions = {}): Promise<ServiceProcess> {
  const ownData = options.dataDir === undefined;
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'lattice-'));
  const serve = options.script === undefined ? ['dist/cli/lattice.js', 'serve'] : [options.script];
  const args = [...serve, '--port', '0', ...(options.flags ?? [])];
  const limit = options.openFiles === undefined ? '' : `ulimit -n ${options.openFiles};`;
  const child = spawn('sh', ['-c', `${limit} exec "$@"`, 'sh', process.execPath, ...args], {
    cwd: options.project ?? PROJECT_ROOT,
    env: {
      ...process.env,
      LATTICE_DATA_DIR: dataDir,
      LATTICE_LOG_LEVEL: 'warn',
      LATTICE_MODELS_DIR: TEST_MODELS,
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  const exited = new Promise<number | string>((resolve) => {
    child.once('exit', (code, signal) => {
      resolve(signal ?? code ?? -1);
    });
  });
  const url = await listeningUrl(child, exited, options.timeoutMs ?? LISTEN_TIMEOUT_MS, (text) => {
    output += text;
    return output;
  }).catch((error: unknown) => {
    if (ownData) rmSync(dataDir, { recursive: true, force: true });
    throw error;
  });
  const kill = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return exited;
  };
  return {
    url,
    dataDir,
    pid: child.pid ?? -1,
    output: () => output,
    stdout: () => stdout,
    exited,
    kill,
    async [Symbol.asyncDispose]() {
      await kill('SIGKILL');
      if (ownData) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Resolves with the address that a started service prints; ends the process that prints none in time. */
export function listeningUrl(
  child: ChildProcess,
  exited: Promise<number | string>,
  timeoutMs: number,
  collect: (text: string) => string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`Service did not listen within ${timeoutMs} ms:\n${output}`));
    }, timeoutMs);
    const onData = (chunk: Buffer) => {
      output = collect(chunk.toString());
      const found = /listening on (http:\/\/\S+)/.exec(output);
      if (found?.[1] !== undefined) {
        clearTimeout(timer);
        resolve(found[1]);
      }
    };
    child.stdout?.on('data', onData);
    child.stderr?.on('data', onData);
    void exited.then((code) => {
      clearTimeout(timer);
      reject(new Error(`Service ended with ${code} before it listened:\n${output}`));
    });
  });
}
