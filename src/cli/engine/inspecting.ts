/** What one engine file, or every engine of one model, says about itself. */
import type { Config } from '../../settings/config.js';
import { listEngineFiles, readEngineFile, type EngineFile } from '../../models/engine-file.js';
import { megabytes } from '../megabytes.js';
import { renderTable } from '../table.js';
import { EXIT_FAILED, UsageError, type Terminal } from '../terminal.js';
import { asJson, builtAt, minute, stemOf } from './listing.js';

/** Exit code 1 when one of them is not ready to be used. */
export async function inspectEngines(
  engine: string,
  config: Config,
  json: boolean,
  terminal: Terminal,
): Promise<void> {
  const folder = config.engineCacheDir;
  const named = (await listEngineFiles(folder)).filter((file) => isNamed(file, engine));
  const read = await Promise.all(named.map(({ name }) => readEngineFile(folder, name, 'whole')));
  const files = read.filter((file) => file !== null);
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

/** `depot` and `depot.pt` name the same model. */
function isNamed({ name, header }: EngineFile, engine: string): boolean {
  if (engine !== '' && name.startsWith(engine)) return true;
  return header !== null && [engine, `${engine}.pt`].includes(header.model_name);
}

function facts({ name, state, reason, header, bytes, lastUsed }: EngineFile): string[][] {
  const standing = [
    ['engine', stemOf(name)],
    ['state', state === 'ready' ? 'ready, every byte checked' : `${state}: ${reason}`],
  ];
  if (state !== 'foreign') standing.push(['size', megabytes(bytes)]);
  if (header === null) return standing;
  return [
    ...standing,
    ['model', header.model_name],
    ['model sha256', header.model_sha256],
    ['precision', header.precision],
    ['gpu', `${header.gpu_name}, compute capability ${header.sm}`],
    ['tensorrt', header.tensorrt_version],
    ['batches', header.buckets.join(', ')],
    ['input', header.input.join(' x ')],
    ['builder level', String(header.builder_level)],
    ['conversion', `version ${header.conversion_version}`],
    ['built', `${minute(builtAt(header))} UTC, in ${(header.build_ms / 1000).toFixed(1)} s`],
    ['last used', `${minute(lastUsed)} UTC`],
  ];
}
