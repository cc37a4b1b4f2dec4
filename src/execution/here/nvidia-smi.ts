/** One reading of a GPU by `nvidia-smi`, which comes with NVIDIA's driver. */
import { execFile, type ExecFileException } from 'node:child_process';
import { SLOWDOWNS, type GpuFigures } from '../../api/schemas/gpu-reading.js';

/** The queried fields, in this order, by the names that every driver for CUDA 12 or later knows. */
const FIELDS = [
  'memory.total',
  'memory.used',
  'memory.reserved',
  'utilization.gpu',
  'temperature.gpu',
  'power.draw',
  'enforced.power.limit',
  'clocks.sm',
  'ecc.errors.uncorrected.volatile.total',
  'mig.mode.current',
  'clocks_throttle_reasons.active',
] as const;
type Field = (typeof FIELDS)[number];

/** Bits of `clocks_throttle_reasons.active`, as NVML numbers them. */
const SLOWDOWN_BITS = {
  power_cap: 0x04,
  hardware_slowdown: 0x08,
  thermal: 0x20,
  hardware_thermal: 0x40,
  power_brake: 0x80,
} as const;

/** This GPU, its driver or its mode of use has no such figure. */
const ABSENT = /^(n\/a|not supported|not found|function not found|insufficient permissions)?$/i;
const NUMBER = /^(\d+(\.\d+)?|0x[0-9a-f]+)$/i;
const MIB = 2 ** 20;

/** `reason` is a sentence on the first figure that failed, null when none did. */
export interface SmiReading {
  figures: GpuFigures;
  reason: string | null;
}

/** Reads the line that `nvidia-smi` prints for one GPU. */
export function parseReading(line: string): SmiReading {
  const values = line.split(',').map((value) => value.trim().replace(/^\[(.*)\]$/, '$1'));
  let reason: string | null = null;
  const textOf = (field: Field): string | null => {
    const value = values[FIELDS.indexOf(field)] ?? '';
    return ABSENT.test(value) ? null : value;
  };
  const numberOf = (field: Field): number | null => {
    const text = textOf(field);
    if (text === null || NUMBER.test(text)) return text === null ? null : Number(text);
    reason ??= `The driver fails at ${field}: ${text}.`;
    return null;
  };
  const bytesOf = (field: Field): number | null => {
    const mebibytes = numberOf(field);
    return mebibytes === null ? null : mebibytes * MIB;
  };
  const used = bytesOf('memory.used');
  const mig = textOf('mig.mode.current');
  const limits = numberOf('clocks_throttle_reasons.active') ?? 0;
  const figures = {
    memoryTotalBytes: bytesOf('memory.total'),
    memoryUsedBytes: used === null ? null : used + (bytesOf('memory.reserved') ?? 0),
    utilisationPercent: numberOf('utilization.gpu'),
    temperatureCelsius: numberOf('temperature.gpu'),
    powerWatts: numberOf('power.draw'),
    powerLimitWatts: numberOf('enforced.power.limit'),
    smClockMhz: numberOf('clocks.sm'),
    uncorrectedMemoryErrors: numberOf('ecc.errors.uncorrected.volatile.total'),
    mig: mig === null ? null : mig === 'Enabled',
    slowedBy: SLOWDOWNS.filter((name) => (limits & SLOWDOWN_BITS[name]) !== 0),
  };
  return { figures, reason };
}

/**
 * Reads the GPU at a PCI bus such as `0000:17:00.0` in a child process, which is killed at the deadline. Rejects with a
 * sentence.
 */
export function readGpu(busId: string, deadlineMs = 5_000): Promise<SmiReading> {
  const args = [`--id=${busId}`, `--query-gpu=${FIELDS.join(',')}`];
  const options = { timeout: deadlineMs, killSignal: 'SIGKILL' } as const;
  return new Promise((resolve, reject) => {
    execFile(
      'nvidia-smi',
      [...args, '--format=csv,noheader,nounits'],
      options,
      (error, stdout, stderr) => {
        if (error === null) resolve(parseReading(stdout.trim()));
        else reject(new Error(failure(error, (stdout + stderr).trim(), deadlineMs)));
      },
    );
  });
}

function failure(error: ExecFileException, said: string, deadlineMs: number): string {
  if ((error.code as unknown) === 'ENOENT') {
    return 'nvidia-smi not found: it comes with the NVIDIA driver; in a container it needs the driver capability `utility`.';
  }
  if (error.killed === true) {
    return `nvidia-smi did not answer within ${deadlineMs / 1_000} s; the driver may hang.`;
  }
  const [line = ''] = said.split('\n');
  return `nvidia-smi fails: ${line === '' ? `exit code ${String(error.code)}` : line}`;
}
