/** Why the device and precision in use were taken, for logs and status. */
import { readFileSync } from 'node:fs';

export interface ComputeChoice {
  device: string;
  precision: string;
  reason: string;
}

export interface ComputeWish {
  device: 'auto' | 'cpu' | 'cuda';
  precision: 'auto' | 'f32' | 'bf16';
}

/** Flags of the CPU that speed bf16 up, as in /proc/cpuinfo; empty where that cannot be read. */
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
  wish: ComputeWish,
  builtIn: { cuda: string | null },
  loaded: { device: string; precision: string } | null,
  features: readonly string[] = bf16Features(),
): ComputeChoice {
  const expected = wish.precision === 'auto' && features.length > 0 ? 'bf16' : 'f32';
  const device = loaded?.device.toLowerCase() ?? 'cpu';
  const precision = loaded?.precision ?? (wish.precision === 'auto' ? expected : wish.precision);
  return {
    device,
    precision,
    reason: `${device}: ${whyDevice(wish, builtIn)}; ${precision}: ${whyPrecision(wish, precision, features)}`,
  };
}

function whyDevice(wish: ComputeWish, builtIn: { cuda: string | null }): string {
  if (wish.device !== 'auto') return 'asked for';
  return builtIn.cuda === null ? 'no NVIDIA GPU was built in' : 'chosen at start';
}

function whyPrecision(wish: ComputeWish, precision: string, features: readonly string[]): string {
  if (wish.precision === precision) return 'asked for';
  if (wish.precision !== 'auto') return `${wish.precision} was asked for, the engine cannot`;
  if (precision === 'bf16') return `the CPU has ${features.join(' and ') || 'bf16'}`;
  if (features.length > 0) return 'the choice of the engine';
  return 'the CPU has neither amx_bf16 nor avx512_bf16';
}
