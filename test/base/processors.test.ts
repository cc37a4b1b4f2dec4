/** Processors of machines that are not at hand, from what their kernels say. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { computingCores } from '../../src/base/processors.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lattice-processors-'));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), `${text}\n`);
}

/** `siblings`: for each processor, those of its core. */
function machine(allowed: string, siblings: string[], file = 'core_cpus_list'): void {
  write('proc/self/status', `Name:\tnode\nCpus_allowed_list:\t${allowed}\nMems_allowed:\t1`);
  siblings.forEach((list, processor) => {
    write(`sys/devices/system/cpu/cpu${processor}/topology/${file}`, list);
  });
}

const alone = (count: number) => Array.from({ length: count }, (_, processor) => `${processor}`);
/** Hardware threads of a core are half of all apart, as most firmware numbers them. */
const inPairs = (cores: number) =>
  [...alone(cores), ...alone(cores)].map((core) => `${core},${Number(core) + cores}`);

it.each([
  ['one processor', '0', alone(1), 1],
  ['two cores', '0-1', alone(2), 2],
  ['eight cores with two hardware threads each', '0-15', inPairs(8), 8],
  ['two sockets of 32 cores with two hardware threads each', '0-127', inPairs(64), 64],
  ['64 cores, bound to six of them', '0-3,10,12', alone(64), 6],
  ['bound to both hardware threads of two cores', '0-1,8-9', inPairs(8), 2],
])('on %s', (_name, allowed, siblings, cores) => {
  machine(allowed, siblings);
  expect(computingCores(root)).toBe(cores);
});

it('reads the topology of older kernels, and does without one', () => {
  machine('0-3', ['0-1', '0-1', '2-3', '2-3'], 'thread_siblings_list');
  expect(computingCores(root)).toBe(2);
  rmSync(join(root, 'sys'), { recursive: true });
  expect(computingCores(root)).toBe(4);
});

it.each([
  ['half a processor', '50000 100000', 1],
  ['a processor and a half', '150000 100000', 2],
  ['four', '400000 100000', 4],
  ['no limit', 'max 100000', 8],
])('within a container of %s (cgroup v2)', (_name, limit, cores) => {
  machine('0-7', alone(8));
  write('proc/self/cgroup', '0::/');
  write('sys/fs/cgroup/cpu.max', limit);
  expect(computingCores(root)).toBe(cores);
});

it('within the narrowest of the groups above it', () => {
  machine('0-7', alone(8));
  write('proc/self/cgroup', '0::/pods/one/service');
  write('sys/fs/cgroup/pods/one/service/cpu.max', 'max 100000');
  write('sys/fs/cgroup/pods/one/cpu.max', '300000 100000');
  write('sys/fs/cgroup/pods/cpu.max', '600000 100000');
  expect(computingCores(root)).toBe(3);
});

it.each(['cpu', 'cpu,cpuacct'])('within a container (cgroup v1, %s)', (mount) => {
  machine('0-7', alone(8));
  write('proc/self/cgroup', '4:memory:/docker/a\n3:cpu,cpuacct:/docker/a\n0::/');
  write(`sys/fs/cgroup/${mount}/cpu.cfs_quota_us`, '200000');
  write(`sys/fs/cgroup/${mount}/cpu.cfs_period_us`, '100000');
  expect(computingCores(root)).toBe(2);
  write(`sys/fs/cgroup/${mount}/cpu.cfs_quota_us`, '-1');
  expect(computingCores(root)).toBe(8);
});

it('is what Node.js says where the kernel says nothing', () => {
  expect(computingCores(root)).toBe(availableParallelism());
});

it('is at least one, and no more than the processors of this machine', () => {
  expect(computingCores()).toBeGreaterThanOrEqual(1);
  expect(computingCores()).toBeLessThanOrEqual(availableParallelism());
});
