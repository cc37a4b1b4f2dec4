/** What one engine file, or every engine of one model, says about itself. */
import type { Config } from '../../config.js';
import { listEngineFiles, readEngineFile, type EngineFile } from '../../models/engine-file.js';
import { megabytes } from '../megabytes.js';
import { renderTable } from '../table.js';
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
  return header !== null && [engine, `${engine}.pt`].includes(header.modelName);
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
    ['model', header.modelName],
    ['model sha256', header.modelSha256],
    ['precision', header.precision],
    ['gpu', `${header.gpuName}, compute capability ${header.sm}`],
    ['tensorrt', header.tensorrtVersion],
    ['batches', header.buckets.join(', ')],
    ['input', `${header.inputWidth} x ${header.inputHeight}`],
    ['builder level', String(header.builderLevel)],
    ['conversion', `version ${header.conversionVersion}`],
    ['built', `${minute(header.createdAt)} UTC, in ${(header.buildMs / 1000).toFixed(1)} s`],
    ['last used', `${minute(lastUsed)} UTC`],
  ];
}
