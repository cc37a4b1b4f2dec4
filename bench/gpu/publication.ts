/** Where a GPU's figures are kept: bench/results and the section of bench/README.md. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { replaceSection } from '../figures-page.js';
import { section } from './results-page.js';
import { writeRecord, type RunRecord } from './run-record.js';

const RESULTS = fileURLToPath(new URL('../results', import.meta.url));
const PAGE = fileURLToPath(new URL('../README.md', import.meta.url));

export function isAmongResults(folder: string): boolean {
  return !relative(RESULTS, folder).startsWith('..');
}

export async function publish(record: RunRecord): Promise<void> {
  const charts = writeRecord(record, RESULTS);
  await replaceSection(PAGE, 'gpu figures', section(record, charts, 'results/'));
}

/** The record that a run left in `folder`. Throws a sentence where there is none, or several, or a dry one. */
export function readRecord(folder: string): RunRecord {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  const [file] = files;
  if (file === undefined || files.length > 1) {
    throw new Error(`${folder} holds ${files.length} runs; name a folder with one.`);
  }
  const record = JSON.parse(readFileSync(join(folder, file), 'utf8')) as RunRecord;
  if (record.dry) {
    throw new Error('That was a dry run, or one on simulated GPUs; nothing of it is a GPU figure.');
  }
  return record;
}
