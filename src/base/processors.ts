/** The processors that this process may compute on. Linux; elsewhere what Node.js says. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * Whole cores, at least one: two hardware threads of a core share its arithmetic units. Within the processors that the
 * process is bound to, and within the CPU quota of its container (cgroup v1 and v2), rounded up. `root` holds `proc`
 * and `sys`.
 */
export function computingCores(root = '/'): number {
  const bound = boundProcessors(root);
  const cores = new Set(bound.map((processor) => siblingsOf(root, processor)));
  const count = cores.size > 0 ? cores.size : availableParallelism();
  return Math.max(1, Math.min(count, Math.ceil(cpuQuota(root))));
}

function read(...path: string[]): string | null {
  try {
    return readFileSync(join(...path), 'utf8').trim();
  } catch {
    return null;
  }
}

/** Numbers of the processors that this process may use; empty if they are not known. */
function boundProcessors(root: string): number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(read(root, 'proc/self/status') ?? '')?.[1];
  return (list ?? '').split(',').flatMap((part) => {
    const [first = NaN, last = first] = part.split('-').map((end) => parseInt(end, 10));
    return first <= last ? Array.from({ length: last - first + 1 }, (_, at) => first + at) : [];
  });
}

/** The same text for all hardware threads of a core. */
function siblingsOf(root: string, processor: number): string {
  const topology = join(root, `sys/devices/system/cpu/cpu${processor}/topology`);
  // The second is its name in older kernels.
  const found = read(topology, 'core_cpus_list') ?? read(topology, 'thread_siblings_list');
  return found ?? String(processor);
}

/** Processors' worth of time, the least of the process's group and of those above it; Infinity without a limit. */
function cpuQuota(root: string): number {
  const groups = (read(root, 'proc/self/cgroup') ?? '').split('\n').map((line) => line.split(':'));
  const quotas = groups.flatMap(([, controllers = '', path = '/']) => {
    if (controllers === '') return groupsAbove(path).map((at) => quotaOfV2(root, at));
    if (!controllers.split(',').includes('cpu')) return [];
    return groupsAbove(path).flatMap((at) => [
      quotaOfV1(root, 'cpu', at),
      quotaOfV1(root, controllers, at),
    ]);
  });
  return Math.min(Infinity, ...quotas);
}

/** The group itself first. A container may see its own group as the topmost one. */
function groupsAbove(path: string): string[] {
  return path === '/' ? [path] : [path, ...groupsAbove(dirname(path))];
}

function quotaOfV2(root: string, group: string): number {
  const [quota, period] = (read(root, 'sys/fs/cgroup', group, 'cpu.max') ?? 'max').split(' ');
  return quota === 'max' ? Infinity : Number(quota) / Number(period);
}

function quotaOfV1(root: string, controllers: string, group: string): number {
  const folder = join(root, 'sys/fs/cgroup', controllers, group);
  const quota = Number(read(folder, 'cpu.cfs_quota_us') ?? -1);
  return quota < 0 ? Infinity : quota / Number(read(folder, 'cpu.cfs_period_us'));
}
