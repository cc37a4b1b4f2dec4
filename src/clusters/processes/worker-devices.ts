/** Chooses the devices that run in separate worker processes. */
import { ConfigError, onlyVisibleGpu, type Config } from '../../settings/config.js';
import type { NativeGpus } from '../../native/contract.js';
import { gpus as usableGpus } from '../../native/core.js';

export interface WorkerDevice {
  /** Names the worker in results, in status and in the log, for example `gpu-2`. */
  workerId: string;
  /** Environment variables that make its process use this device and no other. */
  env: Record<string, string>;
}

/**
 * Returns one device per worker process. Every listed device gets a worker process, a single one too. With `auto`,
 * several usable GPUs get one each; a single GPU or the CPU runs in the process of the service, and the list is empty.
 * Throws `ConfigError` for settings that contradict each other.
 */
export function workerDevices(
  { device, gpus }: Pick<Config, 'device' | 'gpus'>,
  usable: () => NativeGpus = usableGpus,
): WorkerDevice[] {
  const listed = gpus === 'auto' ? [] : gpus.split(',');
  if (listed[0] === 'cpu') {
    if (device === 'cuda') throw contradiction(gpus, 'cuda', 'auto or cpu');
    return listed.map((_, index) => cpuWorker(index));
  }
  if (device === 'cpu') {
    if (listed.length > 0) throw contradiction(gpus, 'cpu', 'auto or cuda');
    return [];
  }
  if (listed.length > 0) return listed.map((ordinal) => gpuWorker(Number(ordinal)));
  const found = usable().gpus;
  return found.length < 2 ? [] : found.map(({ index }) => gpuWorker(index));
}

function cpuWorker(index: number): WorkerDevice {
  const env = { LATTICE_DEVICE: 'cpu', CUDA_VISIBLE_DEVICES: '' };
  return { workerId: `cpu-${index}`, env };
}

function gpuWorker(ordinal: number): WorkerDevice {
  const env = { LATTICE_DEVICE: 'cuda', CUDA_VISIBLE_DEVICES: onlyVisibleGpu(ordinal) };
  return { workerId: `gpu-${ordinal}`, env };
}

function contradiction(gpus: string, device: string, right: string): ConfigError {
  return new ConfigError(
    `LATTICE_GPUS=${gpus} contradicts LATTICE_DEVICE=${device}: set LATTICE_DEVICE to ${right}.`,
  );
}
