/** The files that a run leaves in its folder when it has ended. */
import { readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createHideFolders } from '../../answers/shown-problem.js';
import type { ExportSource } from '../../export/export-source.js';
import { FORMATS, type ExportFormat } from '../../export/formats.js';
import { ALL_BOXES } from '../../http/routes/count-scope.js';
import { countsFile, sumText } from '../../http/routes/jobs/count-texts.js';
import { exportPages, exportSource } from '../../http/routes/jobs/result.js';
import type { CountSums } from '../../jobs/count-sums.js';
import type { JobService } from '../../jobs/job-service.js';
import { placeOf, writeFileTo } from '../output-file.js';
import { reportOfRun, type EndedRun } from './run-report.js';

const RESULTS = 'results';

interface RunFile {
  name: string;
  pieces: AsyncIterable<string | Uint8Array> | string[];
}

/** The counts of all jobs of a run. */
export function countsOfRun(service: JobService, tag: string): Promise<CountSums> {
  return service.countsOf({ jobs: { keyId: null, tag } }, ALL_BOXES, null, null);
}

/**
 * Each file is complete or not there. Results of an earlier run in other formats are removed, because they would be
 * taken for those of this one. Gives the paths.
 */
export async function writeRunFiles(
  folder: string,
  formats: readonly ExportFormat[],
  run: EndedRun,
): Promise<string[]> {
  const written: string[] = [];
  for (const { name, pieces } of await filesOf(formats, run)) {
    const path = join(folder, name);
    await write(path, pieces);
    written.push(path);
  }
  for (const [format, { ending }] of Object.entries(FORMATS)) {
    if (!formats.some((each) => each === format))
      await rm(join(folder, `${RESULTS}${ending}`), { force: true });
  }
  return written;
}

async function filesOf(formats: readonly ExportFormat[], run: EndedRun): Promise<RunFile[]> {
  const source = await sourceOf(run);
  return [
    { name: 'report.html', pieces: [await reportOfRun(run)] },
    { name: 'counts.csv', pieces: countsFile(countsText(run.counts), 'run').lines },
    ...formats.map((format) => ({
      name: `${RESULTS}${FORMATS[format].ending}`,
      pieces: FORMATS[format].write(source),
    })),
  ];
}

/** Folders have the names that they have on this machine. */
const countsText = (counts: CountSums) => sumText('folder_hour', counts, (folder) => folder);

/** The images of all jobs as those of one. */
export async function sourceOf({ config, parts, jobs }: EndedRun): Promise<ExportSource> {
  const { service } = parts.jobs;
  const { detector } = parts.models;
  const hide = createHideFolders(config);
  const first = await exportSource(jobs[0], service, { detector, hide });
  return {
    ...first,
    jobId: null,
    pages: async function* () {
      for (const job of jobs) yield* exportPages(job, service, hide);
    },
  };
}

async function write(path: string, pieces: RunFile['pieces']): Promise<void> {
  const place = await placeOf(path);
  if (place.kind !== 'standard output') await writeFileTo(place, pieces, path);
}

const RECORD = 'run.json';

/** The record of the run that has ended last in the folder: until it is written, the same command goes on. */
export async function writeRecord(folder: string, record: { run: string }): Promise<void> {
  await write(join(folder, RECORD), [`${JSON.stringify(record)}\n`]);
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
export async function removeParts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (/^(counts|report|results|run|sorted)\..*\.part-\d+$/.test(name))
      await rm(join(folder, name));
  }
}
