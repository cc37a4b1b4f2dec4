/** Real processes: a server that computes all the time, in two processes. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { PeerProcess, type Command } from '../../../bench/peers/peer-process.js';

const BUSY = `
  const work = () => { for (const end = Date.now() + 5; Date.now() < end; ); setImmediate(work); };
  work();
  if (process.argv[1] === 'child') return;
  require('node:child_process').spawn(process.execPath, ['-e', process.env.SCRIPT, 'child']);
  require('node:http').createServer((_, answer) => answer.end('here')).listen(process.env.PORT);
`;
const command = (script: string): Command => ({
  program: process.execPath,
  args: () => ['-e', `(() => {${script}})()`],
  cwd: '.',
  env: { SCRIPT: `(() => {${script}})()` },
});
const ask = async (url: string) => {
  expect(await (await fetch(url)).text()).toBe('here');
};

/** Processes with the script in their environment. */
function running(mark: string): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark);
    } catch {
      return false;
    }
  }).length;
}

test('a paused server and its children compute nothing, and answer when they are resumed', async () => {
  const server = await PeerProcess.start(command(BUSY), ask);
  try {
    await server.pause();
    await sleep(300);
    server.resume();
    expect(server.cpuMsInPauses()).toBe(0);
    await ask(server.url);
    // Two Node processes.
    expect(server.residentBytes() / 2 ** 20).toBeGreaterThan(60);
  } finally {
    server.kill();
  }
});

test('all its processes are gone after kill, even when they are paused', async () => {
  const mark = `mark-${process.pid}`;
  const server = await PeerProcess.start(command(`/* ${mark} */ ${BUSY}`), ask);
  await server.pause();
  expect(running(mark)).toBe(2);
  server.kill();
  await expect.poll(() => running(mark)).toBe(0);
});

test('they are gone when the process that started them ends', async () => {
  const mark = `orphan-${process.pid}`;
  const busy = command(`/* ${mark} */ ${BUSY}`);
  const fixed = { program: busy.program, cwd: busy.cwd, env: busy.env };
  const starter = `
    import { PeerProcess } from './bench/peers/peer-process.ts';
    const server = await PeerProcess.start(
{ ...${JSON.stringify(fixed)}, args: () => ${JSON.stringify(busy.args(0))} },
      (url) => fetch(url),
    );
    await server.pause();
    console.log('paused');
    process.exit(0);
  `;
  const ended = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '-e', starter],
    { encoding: 'utf8' },
  );
  expect(ended).toMatchObject({ status: 0, stdout: 'paused\n' });
  await expect.poll(() => running(mark)).toBe(0);
});

test('a server that ends is named with its last words', async () => {
  const failing = command(`console.error('no such model'); process.exit(3);`);
  await expect(PeerProcess.start(failing, ask)).rejects.toThrow(/has ended:\nno such model/);
});
