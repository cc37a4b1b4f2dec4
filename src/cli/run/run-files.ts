/** The files that a run leaves in its folder when it has ended. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeParts } from '../../base/output-place.js';
import { FORMATS, type ExportFormat } from '../../export/formats.js';
import { placeOf, writeFileTo } from '../output-file.js';
import type { RunResults } from './run-service.js';

const RESULTS = 'results';

/**
 * Each file is complete or not there. Results of an earlier run in other formats are removed, because they would be
 * taken for those of this one. Gives the paths.
 */
export async function writeRunFiles(
  folder: string,
  formats: readonly ExportFormat[],
  results: RunResults,
): Promise<string[]> {
  const written: string[] = [];
  for (const [name, pieces] of filesOf(formats, results)) {
    const path = join(folder, name);
    await writeWhole(path, pieces);
    written.push(path);
  }
  for (const [format, { ending }] of Object.entries(FORMATS)) {
    if (!formats.some((each) => each === format))
      await rm(join(folder, `${RESULTS}${ending}`), { force: true });
  }
  return written;
}

function filesOf(
  formats: readonly ExportFormat[],
  { report, counts, source }: RunResults,
): [name: string, pieces: RunResults['report']][] {
  return [
    ['report.html', report],
    ['counts.csv', counts],
    ...formats.map((format): [string, RunResults['report']] => [
      `${RESULTS}${FORMATS[format].ending}`,
      FORMATS[format].write(source),
    ]),
  ];
}

/** The file is complete, or as it was. */
export async function writeWhole(path: string, pieces: RunResults['report']): Promise<void> {
  const place = await placeOf(path);
  if (place.kind !== 'standard output') await writeFileTo(place, pieces, path);
}

const RECORD = 'run.json';

/** The record of the run that has ended last in the folder: until it is written, the same command goes on. */
export async function writeRecord(folder: string, record: { run: string }): Promise<void> {
  await writeWhole(join(folder, RECORD), [`${JSON.stringify(record)}\n`]);
}

/** Null where no run has ended. */
export async function lastEnded(folder: string): Promise<string | null> {
  const text = await readFile(join(folder, RECORD), 'utf8').catch(() => '{}');
  try {
    return (JSON.parse(text) as { run?: string }).run ?? null;
  } catch {
    return null;
  }
}

/** Removes what a killed process has not written to its end. */
export function removeRunParts(folder: string): Promise<void> {
  return removeParts(folder, /^(?:counts|report|results|run|sorted)\./);
}
