/** A bash that runs the commands of a page one after the other, as a reader would. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';

export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

export class Shell {
  readonly #process: ChildProcess;
  #stdout = '';
  #stderr = '';

  constructor(folder: string, env: Record<string, string>) {
    // A group of its own, so that what it left in the background ends with it.
    this.#process = spawn('bash', ['--noprofile', '--norc'], {
      cwd: folder,
      env: { ...process.env, ...env },
      detached: true,
    });
    this.#process.stdout!.on('data', (chunk: Buffer) => (this.#stdout += chunk.toString()));
    this.#process.stderr!.on('data', (chunk: Buffer) => (this.#stderr += chunk.toString()));
  }

  /** Rejects when the command does not end in time. */
  async run(command: string, timeoutMs: number): Promise<CommandResult> {
    const mark = randomUUID();
    this.#stdout = '';
    this.#stderr = '';
    this.#process.stdin!.write(`${command}\nprintf '\\n${mark} %s\\n' $?\n`);
    const end = new RegExp(`\\n${mark} (\\d+)\\n`);
    const until = Date.now() + timeoutMs;
    while (Date.now() < until) {
      const found = end.exec(this.#stdout);
      if (found !== null) {
        const stdout = this.#stdout.slice(0, found.index);
        return { code: Number(found[1]), stdout, stderr: this.#stderr };
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`Not done within ${timeoutMs} ms: ${command}\n${this.#stdout}${this.#stderr}`);
  }

  [Symbol.dispose](): void {
    if (this.#process.pid !== undefined) process.kill(-this.#process.pid, 'SIGKILL');
  }
}
