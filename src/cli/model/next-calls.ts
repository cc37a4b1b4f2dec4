/** What to do with a model next, as commands that can be copied. */
import { DEFAULT_SERVICE_URL } from '../../client/lattice-client.js';
import { loadConfig, serviceAccess, type Config } from '../../settings/config.js';
import type { Pictures } from './pictures.js';

/** `name` without `.pt`. The service must have the same models folder. */
export function nextCalls(
  name: string,
  { path, served }: Pick<Pictures, 'path' | 'served'>,
  { modelsDir }: Config,
): string[] {
  const { url = DEFAULT_SERVICE_URL, apiKey } = serviceAccess({});
  const isUsual = modelsDir === loadConfig().modelsDir;
  const key = apiKey === undefined ? '' : ' -H "Authorization: Bearer $LATTICE_API_KEY"';
  const file = quoted(path);
  return [
    '',
    'Next:',
    `  lattice detect --model ${name} ${file}${isUsual ? '' : ` --models-dir ${quoted(modelsDir)}`}`,
    `With a running service${isUsual ? '' : ` (LATTICE_MODELS_DIR=${quoted(modelsDir)})`}:`,
    `  curl -s${key} ${url}/v1/inference/detect -F model_name=${name}.pt -F image=@${file}`,
    `  lattice job submit --model ${name} ${quoted(served)}    # beneath its image folders`,
  ];
}

/** As the first file of a check that has not been installed. */
export function addCall(path: string): string[] {
  return ['', 'Next:', `  lattice model add ${quoted(path)}`];
}

function quoted(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
