/** The GPU benchmark in a process of its own, as a user starts it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../support/service-process.js';

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export async function runGpuBench(
  args: string[],
  env: Record<string, string> = {},
): Promise<Ended> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'bench/gpu.ts', ...args], {
    cwd: join(PROJECT_ROOT),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}
