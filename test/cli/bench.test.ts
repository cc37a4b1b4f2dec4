/** `lattice bench` against a running service. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/base/package.js';
import { DEMO, FEW_THREADS } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';
import { run } from './run.js';

/** Short windows that always agree. */
const QUICK = ['-p', '100', '-s', '100000', '--warmup-request-count', '1'];

let folder: string;
let service: ServiceProcess;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-bench-'));
  const models = join(folder, 'models');
  mkdirSync(models);
  copyFileSync(join(PACKAGE_ROOT, 'models/tiny/tiny-v8.onnx'), join(models, 'depot.onnx'));
  service = await startService({ env: { ...FEW_THREADS, LATTICE_MODELS_DIR: models } });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const bench = (...args: string[]) => run('bench', service.url, '-m', 'tiny-v8', ...QUICK, ...args);

test('clients from 1 to 3: a line per level, CSV and JSON', async () => {
  const csv = join(folder, 'levels.csv');
  const json = join(folder, 'levels.json');
  const { out, err } = await bench(
    ...['--image', 'shapes.png', '--concurrency-range', '1:3:2', '-f', csv, '--json', json],
  );
  expect(err).toBe('');
  const lines = out.trimEnd().split('\n');
  expect(lines.pop()).toMatch(
    /^The network alone does [\d.e+]+ images\/s .*: the best level had .*\d+ %/,
  );
  const [header, ...rows] = lines;
  expect(header).toMatch(/^concurrency +IMAGES\/S +P50 ms +P95 ms +P99 ms +QUEUE +DECODE/);
  expect(rows.map((row) => row.split(/ +/)[0])).toEqual(['1', '3']);
  const measured = JSON.parse(readFileSync(json, 'utf8')) as {
    kind: string;
    network_images_per_second: number;
    levels: { load: number; latency_ms: { p99: number }; server_ms: { inference: number } }[];
  };
  const { kind, levels } = measured;
  expect(kind).toBe('concurrency');
  expect(measured.network_images_per_second).toBeGreaterThan(0);
  expect(levels.map(({ load }) => load)).toEqual([1, 3]);
  for (const { latency_ms, server_ms } of levels) {
    expect(server_ms.inference).toBeGreaterThan(0);
    expect(latency_ms.p99).toBeGreaterThan(server_ms.inference);
  }
  const [names, ...values] = readFileSync(csv, 'utf8').trimEnd().split('\n');
  expect(names).toMatch(/^concurrency,images_per_second,latency_ms_mean,latency_ms_p50,/);
  expect(values.map((line) => line.split(',')[0])).toEqual(['1', '3']);
});

test('a rate of uploads stops above the latency threshold', async () => {
  const { out } = await bench(
    ...['--upload', join(DEMO, 'shapes.png'), '--request-rate-range', '20:1000:1'],
    ...['--request-distribution', 'poisson', '--latency-threshold', '0.01'],
  );
  expect(out).toMatch(
    /^request_rate.*\n20 .*\np95 is above 0\.01 ms: no higher level is measured\.\nThe network alone does .*\n$/,
  );
});

test('a model that is not on this machine: the levels, and why the network alone is not measured', async () => {
  const { out, err, code } = await bench('--image', 'shapes.png', '-m', 'depot');
  expect(out.trimEnd().split('\n')).toHaveLength(2);
  expect(err).toMatch(/^The network alone was not measured: There is no model 'depot/);
  expect(code).toBe(0);
});

test.each([
  [['--image', 'gone.png'], 1, /\(image_not_found\)/],
  [['--upload', '/gone.png'], 2, /There is no file or folder \/gone\.png/],
  [['--upload', 'README.md'], 1, /\(unsupported_image_format\)/],
  [[], 2, /--image PATH .* or --upload FILE/],
  [['--image', 'a', '--concurrency-range', '4:0'], 2, /needs --latency-threshold/],
  [['--image', 'a', '--concurrency-range', '1:2.5'], 2, /whole numbers above 0/],
  [['--image', 'a', '--concurrency-range', '1', '--request-rate-range', '1'], 2, /cannot be used/],
  [['--image', 'a', '-f', '/none/a.csv'], 2, /There is no folder \/none/],
])('%j is refused', async (args, exitCode, reason) => {
  const { err, code, out } = await bench(...args);
  expect({ code, out }).toEqual({ code: exitCode, out: '' });
  expect(err).toMatch(reason);
});

test('a service that is not there is told with its address', async () => {
  const { err, code } = await run('bench', 'http://127.0.0.1:59', '--image', 'a');
  expect(code).toBe(1);
  expect(err).toMatch(/at http:\/\/127\.0\.0\.1:59 cannot be reached/);
});
