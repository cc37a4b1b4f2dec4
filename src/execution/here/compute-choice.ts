/** Chooses the device and the precision, and says why, for logs and status. */
import { readFileSync } from 'node:fs';
import { LatticeError } from '../../api/errors.js';
import type { Device } from '../../api/schemas/model.js';
import type { NativeGpus } from '../../native/contract.js';
import type { Config } from '../../settings/config.js';

export interface ComputeChoice {
  device: string;
  /** A process computes on one GPU; 0 on the CPU. */
  gpus: number;
  precision: string;
  reason: string;
}

export type ComputeSettings = Pick<Config, 'device' | 'precision'>;

export interface DeviceChoice {
  device: Exclude<Device, 'auto'>;
  gpus: number;
  reason: string;
}

/** Throws `gpu_unavailable` if cuda is set and no GPU can be used. */
export function chooseDevice(settings: ComputeSettings, gpus: NativeGpus): DeviceChoice {
  if (settings.device === 'cpu') return { device: 'cpu', gpus: 0, reason: 'asked for' };
  const missing = whyNoGpu(settings, gpus);
  if (settings.device === 'cuda') {
    if (missing !== null) {
      throw new LatticeError('gpu_unavailable', `LATTICE_DEVICE=cuda, but: ${missing}`);
    }
    return { device: 'cuda', gpus: 1, reason: 'asked for' };
  }
  if (missing !== null) return { device: 'cpu', gpus: 0, reason: firstSentence(missing) };
  return {
    device: 'cuda',
    gpus: 1,
    reason: `found ${gpus.gpus.map(({ name }) => name).join(', ')}`,
  };
}

/** The text without the advice at its end, which is for users who set cuda. */
function firstSentence(text: string): string {
  return (text.split('. ')[0] ?? '').replace(/\.$/, '');
}

function whyNoGpu(settings: ComputeSettings, gpus: NativeGpus): string | null {
  if (gpus.missing !== null) return gpus.missing;
  return settings.precision === 'auto'
    ? null
    : `precision ${settings.precision} is the CPU engine's.`;
}

/** Flags of the CPU for bf16, as in /proc/cpuinfo; empty where that cannot be read. */
export function bf16Features(): string[] {
  try {
    const flags = /^flags\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'latin1'))?.[1] ?? '';
    const present = new Set(flags.trim().split(/\s+/));
    return ['amx_bf16', 'avx512_bf16'].filter((feature) => present.has(feature));
  } catch {
    return [];
  }
}

/** `loaded` is what the engine reports for the default model; null before one is loaded. */
export function explainChoice(
  settings: ComputeSettings,
  chosen: DeviceChoice,
  loaded: { device: string; precision: string } | null,
  features: readonly string[] = bf16Features(),
): ComputeChoice {
  const precision = loaded?.precision ?? expectedPrecision(settings, chosen, features);
  // The engine of the CPU calls it "CPU", that of a GPU by the GPU's name.
  const device =
    chosen.device === 'cpu' || loaded === null ? chosen.device : `cuda: ${loaded.device}`;
  const isKnown = loaded !== null;
  const why = whyPrecision(settings, chosen, { precision, isKnown }, features);
  const { gpus } = chosen;
  return {
    device,
    gpus,
    precision,
    reason: `${chosen.device}: ${chosen.reason}; ${precision}: ${why}`,
  };
}

function expectedPrecision(
  settings: ComputeSettings,
  chosen: DeviceChoice,
  features: readonly string[],
): string {
  if (chosen.device === 'cuda') return 'fp16';
  if (settings.precision !== 'auto') return settings.precision;
  return features.length > 0 ? 'int8, bf16 or f32' : 'int8 or f32';
}

function whyPrecision(
  settings: ComputeSettings,
  chosen: DeviceChoice,
  { precision, isKnown }: { precision: string; isKnown: boolean },
  features: readonly string[],
): string {
  if (chosen.device === 'cuda') {
    return precision === 'fp32'
      ? 'the network runs as a whole, because its head is not recognised'
      : 'what the GPU engine computes in';
  }
  if (settings.precision === precision) return 'asked for';
  if (settings.precision !== 'auto')
    return `${settings.precision} was asked for, the engine cannot`;
  if (!isKnown) return 'which is the fastest is measured when a model is loaded';
  if (precision === 'int8') return 'the model has an 8-bit copy, measured to be the fastest';
  const found = features.join(' and ');
  if (precision === 'bf16') return `measured to be the faster, the CPU has ${found || 'it'}`;
  if (found === '') return 'the CPU has neither amx_bf16 nor avx512_bf16';
  return `measured to be the faster, though the CPU has ${found}`;
}
