/** A folder with stored engines. */
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** test/native/gpu/engine_cache/engine_key_test.cc fails when the native half would give another name. */
export const SAMPLE_STEM =
  'vehicles-v8n_NVIDIA-H100-80GB-HBM3_sm9.0_trt10.15.1.29_fp16_4754a911061f94078f82f0178dc47ba1';

/** The sample with some parts of its name changed; the stem. */
export function storeEngine(folder: string, changes: { model?: string; precision?: string } = {}) {
  const stem = SAMPLE_STEM.replace('vehicles-v8n', changes.model ?? 'vehicles-v8n').replace(
    'fp16',
    changes.precision ?? 'fp16',
  );
  writeFile(folder, `${stem}.engine`, 'the plan of an engine');
  return stem;
}

/** Mode 0600, as the service has it. */
export function writeFile(folder: string, name: string, bytes: Buffer | string): void {
  writeFileSync(join(folder, name), bytes, { mode: 0o600 });
}

export function makeOld(folder: string, name: string, days: number): void {
  const time = new Date(Date.now() - days * 24 * 3600 * 1000);
  utimesSync(join(folder, name), time, time);
}
