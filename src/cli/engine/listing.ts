/** The engines in the engine folder. */
import {
  ENGINE_ENDING,
  listStoredEngines,
  type StoredEngine,
} from '../../models/stored-engines.js';
import type { Config } from '../../settings/config.js';
import { megabytes, renderTable } from '../output-text.js';
import type { Terminal } from '../terminal.js';

export async function listEngines(
  config: Config,
  json: boolean,
  terminal: Terminal,
): Promise<void> {
  const files = await listStoredEngines(config.engineCacheDir);
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

function row({ name, state, parts, bytes, builtAt, lastUsed }: StoredEngine): string[] {
  return [
    stemOf(name),
    parts?.model ?? '-',
    parts?.precision ?? '-',
    parts?.gpu ?? '-',
    parts?.tensorrt ?? '-',
    state === 'foreign' ? '-' : megabytes(bytes),
    state === 'foreign' || builtAt === null ? '-' : minute(builtAt),
    state === 'foreign' ? '-' : minute(lastUsed),
    state,
  ];
}

export function stemOf(name: string): string {
  return name.slice(0, -ENGINE_ENDING.length);
}

export const minute = (time: Date) => time.toISOString().slice(0, 16).replace('T', ' ');

export function asJson({ name, state, reason, parts, bytes, builtAt, lastUsed }: StoredEngine) {
  const file = {
    stem: stemOf(name),
    state,
    reason: reason === '' ? null : reason,
    bytes,
    last_used: state === 'foreign' ? null : lastUsed.toISOString(),
  };
  if (parts === null) return file;
  const { tensorrt, ...others } = parts;
  const built = builtAt?.toISOString() ?? null;
  return { ...file, ...others, tensorrt_version: tensorrt, built_at: built };
}
