/** The engines in the engine folder: a table of all, or what the names and files of some tell. */
import {
  ENGINE_ENDING,
  listStoredEngines,
  type StoredEngine,
} from '../../models/stored-engines.js';
import type { Config } from '../../settings/config.js';
import { megabytes, renderTable } from '../output-text.js';
import { EXIT_FAILED, UsageError, type Terminal } from '../terminal.js';

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

/** Exit code 1 when one of them is not ready to be used. */
export async function inspectEngines(
  engine: string,
  config: Config,
  json: boolean,
  terminal: Terminal,
): Promise<void> {
  const folder = config.engineCacheDir;
  const files = named(await listStoredEngines(folder), engine);
  if (files.length === 0) {
    throw new UsageError(
      `No engine in ${folder} is called '${engine}' or built from a model of that name; ` +
        'lattice engine list shows what is there.',
    );
  }
  if (json) terminal.out(JSON.stringify(files.map(asJson), null, 2));
  else terminal.out(files.map((file) => renderTable(facts(file)).join('\n')).join('\n\n'));
  if (files.some(({ state }) => state !== 'ready')) terminal.setExitCode(EXIT_FAILED);
}

/** Those of a model (`depot` and `depot.pt` name the same one), else those whose names start so. */
function named(files: readonly StoredEngine[], engine: string): StoredEngine[] {
  const model = engine.replace(/\.(pt|onnx)$/, '');
  const ofModel = files.filter(({ parts }) => parts?.model === model);
  if (ofModel.length > 0 || engine === '') return ofModel;
  return files.filter(({ name }) => name.startsWith(engine));
}

function facts({ name, state, reason, parts, bytes, builtAt, lastUsed }: StoredEngine): string[][] {
  const standing = [
    ['engine', stemOf(name)],
    ['state', state === 'ready' ? state : `${state}: ${reason}`],
  ];
  if (state !== 'foreign') standing.push(['size', megabytes(bytes)]);
  if (parts === null) return standing;
  return [
    ...standing,
    ['model', parts.model],
    ['precision', parts.precision],
    ['gpu', `${parts.gpu}, compute capability ${parts.sm}`],
    ['tensorrt', parts.tensorrt],
    ['built', builtAt === null ? '-' : `${minute(builtAt)} UTC`],
    ['last used', `${minute(lastUsed)} UTC`],
  ];
}

function stemOf(name: string): string {
  return name.slice(0, -ENGINE_ENDING.length);
}

const minute = (time: Date) => time.toISOString().slice(0, 16).replace('T', ' ');

function asJson({ name, state, reason, parts, bytes, builtAt, lastUsed }: StoredEngine) {
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
