/** A program that a test reads while it runs. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';

/** The lines that it prints, each a JSON object. It must end with exit code 0. */
export async function* jsonLines(
  program: string,
  args: string[],
  options: { cwd?: string } = {},
): AsyncGenerator<Record<string, unknown>> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  for await (const line of createInterface(child.stdout)) {
    yield JSON.parse(line) as Record<string, unknown>;
  }
  expect(await ended).toBe(0);
}
