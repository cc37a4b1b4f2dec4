/** The request of the view as programs that people can run. */
import { PARAMETER_ROWS } from '../../api/options.js';
import type { Region } from '../../api/region-rules.js';
import { snake } from '../../api/snake-case.js';
import { tilesText, type Tiles } from '../../api/tiles.js';
import { listText } from '../address/address.js';
import { detectFields, type DetectChoice, type Source } from './detect-request.js';

const ROUTE = '/v1/inference/detect';
/** Name of the client in package.json: `release.client`. */
const CLIENT = 'lattice-detect-client';

interface Sample extends DetectChoice {
  source: Source;
  /** Origin of the service. */
  origin: string;
  needsKey: boolean;
  /** The regions of the view, for a program that runs without a service. */
  viewRegions?: readonly Region[];
}

/** The samples by the names that the page shows. */
export const SAMPLES = {
  curl: asCurl,
  Python: asPython,
  Node: asNode,
  CLI: asCli,
} as const satisfies Record<string, (sample: Sample) => string>;
export type Language = keyof typeof SAMPLES;

export function asCurl({ source, origin, needsKey, ...choice }: Sample): string {
  const fields = detectFields(choice);
  const key = needsKey ? ['-H "authorization: Bearer $LATTICE_API_KEY"'] : [];
  if (source.kind === 'path') {
    const body = JSON.stringify({ image_path: source.path, ...fields });
    const type = "-H 'content-type: application/json'";
    return command([`curl -s ${origin}${ROUTE}`, ...key, type, `-d ${quoted(body)}`]);
  }
  const form = Object.entries(fields).map(([name, value]) => {
    const text = asText(value);
    // `--form-string`, because some characters in the value of `-F` are curl's own.
    const flag = /^[@<"]|;/.test(text) ? '--form-string' : '-F';
    return `${flag} ${quoted(`${name}=${text}`)}`;
  });
  const image = `-F ${quoted(`image=@"${source.file.name.replace(/["\\]/g, '\\$&')}"`)}`;
  return command([`curl -s ${origin}${ROUTE}`, ...key, image, ...form]);
}

export function asPython({ source, origin, needsKey, ...choice }: Sample): string {
  const fields = Object.entries(detectFields(choice)).map(
    ([name, value]) => `${name}=${asPythonText(value)}`,
  );
  const isPath = source.kind === 'path';
  const name = JSON.stringify(isPath ? source.path : source.file.name);
  const image = isPath ? name : `Path(${name})`;
  const key = needsKey ? '  # the key: LATTICE_API_KEY in the environment' : '';
  return [
    `# pip install ${CLIENT}`,
    ...(isPath ? [] : ['from pathlib import Path']),
    'from lattice_client import Lattice',
    '',
    `with Lattice(base_url=${JSON.stringify(origin)}) as lattice:${key}`,
    `    found = lattice.detect(${[image, ...fields].join(', ')})`,
    '    for detection in found.detections:',
    '        print(detection.class_name, detection.confidence, detection.box)',
  ].join('\n');
}

export function asNode({ source, origin, needsKey, ...choice }: Sample): string {
  const fields = detectFields(choice);
  const isPath = source.kind === 'path';
  const call = isPath
    ? `detect(${JSON.stringify({ image_path: source.path, ...fields })})`
    : `detectPicture(await readFile(${JSON.stringify(source.file.name)}), ${JSON.stringify(fields)})`;
  const key = needsKey ? ', apiKey: process.env.LATTICE_API_KEY' : '';
  return [
    `// npm install ${CLIENT}`,
    ...(isPath ? [] : ["import { readFile } from 'node:fs/promises';"]),
    `import { LatticeClient } from '${CLIENT}';`,
    '',
    `const lattice = new LatticeClient({ url: ${JSON.stringify(origin)}${key} });`,
    `const found = await lattice.${call};`,
    'for (const { class: name, confidence, box } of found.detections) console.log(name, confidence, box);',
  ].join('\n');
}

/** A picture of the service as a job of one image; one of this machine is detected there, without the service. */
export function asCli({ source, origin, needsKey, viewRegions = [], ...choice }: Sample): string {
  if (source.kind === 'path') {
    const url = `--url ${origin}`;
    const submit = [
      `JOB=$(npx lattice job submit ${quoted(source.path)} --wait ${url}`,
      ...flagsOf(choice),
    ];
    const key = needsKey ? ['# the key: LATTICE_API_KEY in the environment'] : [];
    return [...key, `${command(submit)})`, `npx lattice job result $JOB --json ${url}`].join('\n');
  }
  const regions = choice.regions ?? (viewRegions.length === 0 ? null : viewRegions);
  return [
    '# without the service; where no classes are named, all of the model',
    command([
      `npx lattice detect ${quoted(source.file.name)} --json`,
      ...flagsOf({ ...choice, regions }),
    ]),
  ].join('\n');
}

function flagsOf(choice: DetectChoice): string[] {
  const { model_name: model, classes, ...fields } = detectFields(choice);
  const rows = new Map<string, string>(
    PARAMETER_ROWS.map(({ name, wireName }) => [wireName, snake(name).replaceAll('_', '-')]),
  );
  const options = Object.entries(fields).map(([name, value]) => {
    const flag = rows.get(name) ?? name;
    if (typeof value === 'boolean') return value ? `--${flag}` : `--no-${flag}`;
    return `--${flag} ${quoted(name === 'tiles' ? tilesText(value as Tiles) : asText(value))}`;
  });
  return [
    ...(model ? [`--model ${quoted(model)}`] : []),
    ...(classes ? [`--classes ${quoted(classes.join(','))}`] : []),
    ...options,
  ];
}

function asPythonText(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (value === null) return 'None';
  if (Array.isArray(value)) return `[${value.map(asPythonText).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const entries = Object.entries(value as Record<string, unknown>)
    .filter(([, each]) => each !== undefined)
    .map(([name, each]) => `${JSON.stringify(name)}: ${asPythonText(each)}`);
  return `{${entries.join(', ')}}`;
}

/** Text of a field of a form. */
function asText(value: unknown): string {
  if (isNames(value)) return listText(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function command(parts: readonly string[]): string {
  return parts.join(' \\\n  ');
}

/** One word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
