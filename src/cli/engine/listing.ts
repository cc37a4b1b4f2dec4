/** The engines in the engine folder. */
import type { Config } from '../../config.js';
import { ENGINE_ENDING, listEngineFiles, type EngineFile } from '../../models/engine-file.js';
import { megabytes } from '../megabytes.js';
import { renderTable } from '../table.js';
import type { Terminal } from '../terminal.js';

/** Enough to tell the engines of one folder apart. */
const SHOWN_DIGITS = 12;

export async function listEngines(
  config: Config,
  json: boolean,
  terminal: Terminal,
): Promise<void> {
  const files = await listEngineFiles(config.engineCacheDir);
  if (json) {
    terminal.out(JSON.stringify(files.map(asJson), null, 2));
    return;
  }
  if (files.length === 0) {
    terminal.out(`No engine is stored in ${config.engineCacheDir}.`);
    return;
  }
  const header = [
    ...['ENGINE', 'MODEL', 'PRECISION', 'GPU', 'TENSORRT', 'SIZE'],
    ...['BUILT (UTC)', 'LAST USED (UTC)', 'STATE'],
  ];
  for (const line of renderTable([header, ...files.map(row)])) terminal.out(line);
  const reasons = files.map(({ reason }) => reason).filter(Boolean);
  if (reasons.length > 0) terminal.out(['', ...reasons].join('\n'));
}

function row({ name, state, header, bytes, lastUsed }: EngineFile): string[] {
  return [
    stemOf(name).slice(0, SHOWN_DIGITS),
    header?.modelName ?? '-',
    header?.precision ?? '-',
    header?.gpuName ?? '-',
    header?.tensorrtVersion ?? '-',
    state === 'foreign' ? '-' : megabytes(bytes),
    header === null ? '-' : minute(header.createdAt),
    state === 'foreign' ? '-' : minute(lastUsed),
    state,
  ];
}

export function stemOf(name: string): string {
  return name.slice(0, -ENGINE_ENDING.length);
}

export const minute = (time: Date) => time.toISOString().slice(0, 16).replace('T', ' ');

export function asJson({ name, state, reason, header, bytes, lastUsed }: EngineFile) {
  return {
    stem: stemOf(name),
    state,
    reason: reason === '' ? null : reason,
    bytes,
    last_used: state === 'foreign' ? null : lastUsed.toISOString(),
    ...(header === null
      ? {}
      : {
          model: header.modelName,
          model_sha256: header.modelSha256,
          precision: header.precision,
          gpu: header.gpuName,
          sm: header.sm,
          tensorrt_version: header.tensorrtVersion,
          buckets: header.buckets,
          input: { width: header.inputWidth, height: header.inputHeight },
          builder_level: header.builderLevel,
          conversion_version: header.conversionVersion,
          built_at: header.createdAt.toISOString(),
          build_seconds: header.buildMs / 1000,
        }),
  };
}
