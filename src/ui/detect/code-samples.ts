/** The request of the view as programs that people can run. */
import { detectFields, type DetectChoice, type Source } from './detect-request.js';

const ROUTE = '/v1/inference/detect';

interface Sample extends DetectChoice {
  source: Source;
  /** Of the service. */
  origin: string;
  needsKey: boolean;
}

export function asCurl({ source, origin, needsKey, ...choice }: Sample): string {
  const fields = detectFields(choice);
  const key = needsKey ? ['-H "authorization: Bearer $LATTICE_API_KEY"'] : [];
  if (source.kind === 'path') {
    const body = JSON.stringify({ image_path: source.path, ...fields });
    const type = "-H 'content-type: application/json'";
    return command([`curl -s ${origin}${ROUTE}`, ...key, type, `-d ${quoted(body)}`]);
  }
  const form = Object.entries(fields).map(
    ([name, value]) => `-F ${quoted(`${name}=${asText(value)}`)}`,
  );
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
    '# pip install ./clients/python',
    ...(isPath ? [] : ['from pathlib import Path']),
    'from lattice_client import Lattice',
    '',
    `with Lattice(base_url=${JSON.stringify(origin)}) as lattice:${key}`,
    `    found = lattice.detect(${[image, ...fields].join(', ')})`,
    '    for detection in found.detections:',
    '        print(detection.class_name, detection.confidence, detection.box)',
  ].join('\n');
}

function asPythonText(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return JSON.stringify(value);
}

/** Of a field of a form. */
function asText(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function command(parts: readonly string[]): string {
  return parts.join(' \\\n  ');
}

/** One word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
