/** The engines in the engine folder. */
import type { Config } from '../../settings/config.js';
import {
  ENGINE_ENDING,
  listEngineFiles,
  type EngineFile,
  type EngineHeader,
} from '../../models/engine-file.js';
import { megabytes } from '../megabytes.js';
import { renderTable } from '../table.js';
import type { Terminal } from '../terminal.js';

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
    stemOf(name),
    header?.model_name ?? '-',
    header?.precision ?? '-',
    header?.gpu_name ?? '-',
    header?.tensorrt_version ?? '-',
    state === 'foreign' ? '-' : megabytes(bytes),
    header === null ? '-' : minute(builtAt(header)),
    state === 'foreign' ? '-' : minute(lastUsed),
    state,
  ];
}

export function stemOf(name: string): string {
  return name.slice(0, -ENGINE_ENDING.length);
}

export const minute = (time: Date) => time.toISOString().slice(0, 16).replace('T', ' ');

export const builtAt = ({ created_s }: Pick<EngineHeader, 'created_s'>) =>
  new Date(created_s * 1000);

export function asJson({ name, state, reason, header, bytes, lastUsed }: EngineFile) {
  const file = {
    stem: stemOf(name),
    state,
    reason: reason === '' ? null : reason,
    bytes,
    last_used: state === 'foreign' ? null : lastUsed.toISOString(),
  };
  if (header === null) return file;
  const { model_name, gpu_name, input, created_s, build_ms, ...key } = header;
  const [width, height] = input;
  return {
    ...file,
    ...key,
    model: model_name,
    gpu: gpu_name,
    input: { width, height },
    built_at: builtAt({ created_s }).toISOString(),
    build_seconds: build_ms / 1000,
  };
}
