import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../support/service-process.js';

test('the line before the kill is written, although the threads that write the log hang', async () => {
  const script = `
    import { spawnSync } from 'node:child_process';
    import { open } from 'node:fs';
    import { createLogger, standardOutput } from './dist/service/logger.js';
    import { endAtOnce } from './dist/service/shutdown.js';
    spawnSync('mkfifo', [process.argv[1]]);
    // Each blocks a thread of the pool until somebody writes to the pipe.
    for (let i = 0; i < 4; i++) open(process.argv[1], 'r', () => undefined);
    endAtOnce(createLogger({ logLevel: 'info' }, standardOutput({ sync: true })));
  `;
  const folder = mkdtempSync(join(tmpdir(), 'lattice-stop-'));
  const args = ['--input-type=module', '-e', script, join(folder, 'fifo')];
  const child = spawn(process.execPath, args, { cwd: PROJECT_ROOT });
  const [output, [, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  rmSync(folder, { recursive: true });
  expect(signal).toBe('SIGKILL');
  expect(output).toContain('the process is killed');
});
