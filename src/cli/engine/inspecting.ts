/** What the names and files of one engine, or of every engine of one model, tell. */
import { listStoredEngines, type StoredEngine } from '../../models/stored-engines.js';
import type { Config } from '../../settings/config.js';
import { megabytes, renderTable } from '../output-text.js';
import { EXIT_FAILED, UsageError, type Terminal } from '../terminal.js';
import { asJson, minute, stemOf } from './listing.js';

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
