/** Lifetimes: worker threads, exits and crashes in the middle of work, each in a process of its own. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { RESULT_STRIDE, ResultField } from '../../src/native/contract.js';
import { ADDON, coreOptions, TINY_MODEL } from './open-test-core.js';

const folder = mkdtempSync(join(tmpdir(), 'lattice-lifetime-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** JavaScript that opens a core over the bare addon and offers `run(count, more)`; runs in a child or a worker. */
const prelude = (more = {}) => `
  const addon = require(${JSON.stringify(ADDON)});
  const done = [];
  const core = new addon.Core(${JSON.stringify(coreOptions(more))}, (meta, boxes) => {
    for (let i = 0; i < boxes.length; i++) {
      const at = ${RESULT_STRIDE} * i;
      done.push([meta[at + ${ResultField.id}], meta[at + ${ResultField.code}]]);
    }
  });
  let nextId = 1;
  const task = (modelId, more) => ({ id: nextId++, modelId, path: 'shapes.png', kind: 'async',
    priority: 0, deadlineMs: 0, confidence: 0.25, iou: 0.7, maxDetections: 300, classIds: null, ...more });
  const run = (modelId, count, more) =>
    core.submit(Array.from({ length: count }, () => task(modelId, more)));
  const load = () => core.loadModel(${JSON.stringify(TINY_MODEL)});
`;

function child(script: string) {
  const result = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8', timeout: 60_000 });
  return { ...result, output: result.stdout + result.stderr };
}

describe('the process', () => {
  it('ends by itself when no task is pending, with an open core or without', () => {
    const { status, output } = child(`${prelude()} load().then(() => console.log('loaded'))`);
    expect([status, output]).toEqual([0, 'loaded\n']);
  });

  it('stays until every pending result is delivered', () => {
    const { status, output } = child(`${prelude()}
      load().then(({ modelId }) => run(modelId, 20));
      process.on('exit', () => console.log(done.length));`);
    expect([status, output]).toEqual([0, '20\n']);
  });

  it('exits cleanly in the middle of work', () => {
    for (const delay of [0, 3, 15]) {
      const { status, output } = child(`${prelude()}
        load().then(({ modelId }) => { run(modelId, 200); setTimeout(() => process.exit(7), ${delay}); });`);
      expect([status, output]).toEqual([7, '']);
    }
  });

  it('reports an exception of the callback as uncaught and goes on', () => {
    const { status, output } = child(`
      const addon = require(${JSON.stringify(ADDON)});
      const task = { id: 1, modelId: 0, path: 'shapes.png', kind: 'sync', priority: 0, deadlineMs: 0, confidence: 0.25,
        iou: 0.7, maxDetections: 300, classIds: null };
      const submit = () => core.submit([task]);
      process.on('uncaughtException', (error) => console.log(error.message));
      process.once('uncaughtException', () => setImmediate(submit));
      const core = new addon.Core(${JSON.stringify(coreOptions())}, () => { throw new Error('mine'); });
      submit();`);
    expect([status, output]).toEqual([0, 'mine\nmine\n']);
  });
});

describe('worker threads', () => {
  const worker = (body: string) => `
    const { Worker } = require('node:worker_threads');
    const start = () => new Worker(${JSON.stringify(body)}, { eval: true });
  `;
  const busy = `const { parentPort } = require('node:worker_threads'); ${prelude()}
    load().then(({ modelId }) => { run(modelId, 300); run(modelId, 300, { kind: 'sync' }); parentPort.postMessage('busy'); });`;

  it('may be terminated in the middle of a call, 12 times over', () => {
    const { status, output } = child(`${worker(busy)}
      (async () => {
        for (let i = 0; i < 12; i++) {
          const one = start();
          await new Promise((resolve) => one.once('message', resolve));
          await new Promise((resolve) => setTimeout(resolve, (i * 7) % 23));
          await one.terminate();
        }
        console.log('alive');
      })();`);
    expect([status, output]).toEqual([0, 'alive\n']);
  });

  it('may be terminated while a model loads', () => {
    const { status, output } = child(`${worker(`${prelude()} load(); load();`)}
      (async () => {
        for (let i = 0; i < 4; i++) {
          const one = start();
          await new Promise((resolve) => one.once('online', resolve));
          await new Promise((resolve) => setTimeout(resolve, 30 * i));
          await one.terminate();
        }
        console.log('alive');
      })();`);
    expect([status, output]).toEqual([0, 'alive\n']);
  });

  it('have cores of their own, beside the main thread and several in one', () => {
    const body = `const { parentPort } = require('node:worker_threads'); ${prelude()}
      load().then(async ({ modelId }) => {
        run(modelId, 10);
        while (done.length < 10) await new Promise((resolve) => setTimeout(resolve, 5));
        await core.close();
        parentPort.postMessage(done.filter(([, code]) => code === 0).length);
      });`;
    const { status, output } = child(`${worker(body)} ${prelude()}
      const second = new addon.Core(${JSON.stringify(coreOptions())}, () => {});
      const ones = [start(), start()].map((one) => new Promise((resolve) => one.once('message', resolve)));
      load().then(({ modelId }) => run(modelId, 10));
      Promise.all(ones).then((counts) => console.log(counts.join()));
      process.on('exit', () => console.log(done.length));`);
    expect([status, output]).toEqual([0, '10,10\n10\n']);
  });
});

describe('a crash', () => {
  it('leaves the id in hand first, then all in hand', () => {
    const crashMarkerPath = join(folder, 'marker');
    const { signal } = child(`${prelude({ crashMarkerPath, abortOnPathSuffix: 'street.jpg' })}
      load().then(({ modelId }) => {
        nextId = 41;
        run(modelId, 3);
        core.submit([task(modelId, { id: 666, path: 'street.jpg', kind: 'sync' })]);
      });`);
    expect(signal).toBe('SIGABRT');
    const ids = readFileSync(crashMarkerPath, 'utf8').trim().split('\n');
    expect(ids[0]).toBe('666');
    expect(ids.slice(1)).toContain('666');
    for (const id of ids) expect(['41', '42', '43', '666']).toContain(id);
  });

  it('leaves an empty file after a clean end', () => {
    const crashMarkerPath = join(folder, 'clean');
    const { status } = child(`${prelude({ crashMarkerPath })}
      load().then(({ modelId }) => run(modelId, 3));`);
    expect(status).toBe(0);
    expect(readFileSync(crashMarkerPath, 'utf8')).toBe('');
  });
});
