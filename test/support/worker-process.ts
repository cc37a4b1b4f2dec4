/** A real worker in a process of its own, started as Ray or the service starts it. */
import { spawn } from 'node:child_process';
import { PROJECT_ROOT, TEST_MODELS } from './service-process.js';

export interface WorkerProcess {
  pid: number;
  output(): string;
  exited: Promise<number | string>;
  kill(signal: NodeJS.Signals): void;
  /** As when its parent dies. */
  closeInput(): void;
}

export function startWorkerProcess(env: Record<string, string>): WorkerProcess {
  const child = spawn(process.execPath, ['dist/worker.js'], {
    cwd: PROJECT_ROOT,
    env: {
      ...process.env,
      LATTICE_MODELS_DIR: TEST_MODELS,
      LATTICE_DEVICE: 'cpu',
      LATTICE_LOG_LEVEL: 'info',
      LATTICE_JOBS_YIELD: 'false',
      ...env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  const collect = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const exited = new Promise<number | string>((resolve) => {
    child.once('exit', (code, signal) => {
      resolve(signal ?? code ?? -1);
    });
  });
  return {
    pid: child.pid ?? -1,
    output: () => output,
    exited,
    kill: (signal) => child.kill(signal),
    closeInput: () => child.stdin.end(),
  };
}
