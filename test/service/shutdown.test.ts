import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Releases } from '../../src/service/shutdown.js';
import { PROJECT_ROOT } from '../support/service-process.js';

const DRAIN_MS = 60_000;
const quiet = { debug: () => undefined, error: () => undefined };

test('parts are released last in, first out, and one that fails keeps none of the others', async () => {
  const order: string[] = [];
  const errors: object[] = [];
  const releases = new Releases(
    { ...quiet, error: (fields) => void errors.push(fields) },
    DRAIN_MS,
  );
  releases.add('first', () => void order.push('first'));
  releases.add('second', async () => {
    await Promise.resolve();
    order.push('second');
    throw new Error('second is stuck');
  });
  releases.add('third', () => void order.push('third'));
  expect(await releases.releaseAll()).toBe(true);
  expect(order).toEqual(['third', 'second', 'first']);
  expect(errors).toEqual([{ part: 'second', error: 'Error: second is stuck' }]);
});

test('releasing twice releases each part once', async () => {
  let times = 0;
  const releases = new Releases(quiet, DRAIN_MS);
  releases.add('part', () => void (times += 1));
  await releases.releaseAll();
  await releases.releaseAll();
  expect(times).toBe(1);
});

test('a part that hangs is left, and the others are released all the same', async () => {
  const order: string[] = [];
  const errors: object[] = [];
  const releases = new Releases({ ...quiet, error: (fields) => void errors.push(fields) }, 30, 20);
  releases.add('first', () => void order.push('first'));
  releases.add('second', () => new Promise<never>(() => undefined));
  releases.add('third', () => void order.push('third'));
  expect(await releases.releaseAll()).toBe(false);
  expect(order).toEqual(['third', 'first']);
  expect(errors).toEqual([{ part: 'second', limitMs: 50 }]);
});

test('drains run at the same time, each with the whole allowance, and before any release', async () => {
  const order: string[] = [];
  const releases = new Releases(quiet, 300);
  for (const name of ['jobs', 'server']) {
    releases.add(name, () => void order.push(`${name} released`));
    releases.addDrain(name, async (drainMs) => {
      order.push(`${name} begun`);
      await sleep(drainMs);
      order.push(`${name} drained after ${drainMs}`);
    });
  }
  expect(await releases.releaseAll()).toBe(true);
  expect(order).toEqual([
    'jobs begun',
    'server begun',
    'jobs drained after 300',
    'server drained after 300',
    'server released',
    'jobs released',
  ]);
});

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
