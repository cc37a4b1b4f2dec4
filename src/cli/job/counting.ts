/** `lattice job counts`: a job by image, folder, hour or day, as a table, JSON or a CSV file. */
import type { CountsBy, JobCountGroup, JobCounts } from '../../client/lattice-client.js';
import { writeOutput } from '../output-file.js';
import { renderTable } from '../output-text.js';
import type { Terminal } from '../terminal.js';
import { openClient, type AccessFlags } from './open-client.js';
import { questionOf, type QuestionFlags } from './question-flags.js';

export interface CountsFlags extends AccessFlags, QuestionFlags {
  by: CountsBy;
  format?: 'csv';
  output?: string;
}

export async function showCounts(
  jobId: string,
  flags: CountsFlags,
  terminal: Terminal,
): Promise<void> {
  const client = openClient(flags);
  const asked = { question: questionOf(flags) };
  if (flags.format === 'csv') {
    await writeOutput(client.countsCsv(jobId, flags.by, asked), flags.output, terminal);
    return;
  }
  const counts = await client.counts(jobId, flags.by, asked);
  if (flags.json === true) terminal.out(JSON.stringify(counts));
  else for (const line of countLines(counts)) terminal.out(line);
}

function countLines({ by, total, groups, pending_images: pending }: JobCounts): string[] {
  const classes = Object.keys(total.class_counts);
  const isImage = by === 'image';
  const header = [by, ...(isImage ? ['time', 'from'] : []), 'images', 'failed', 'empty', 'boxes'];
  const row = (name: string, group: Omit<JobCountGroup, 'group'>): string[] => [
    name,
    ...(isImage ? [group.time ?? '-', group.time_source ?? '-'] : []),
    ...[group.images, group.failed_images, group.empty_images, group.detections].map(String),
    ...classes.map((each) => String(group.class_counts[each] ?? 0)),
  ];
  const { none = 0, ...known } = total.time_sources;
  const sources = [
    ...Object.entries(known).map(([name, count]) => `${name} ${count}`),
    ...(none === 0 ? [] : [`not known ${none}`]),
  ];
  return [
    ...renderTable([
      [...header.map((name) => name.toUpperCase()), ...classes],
      ...groups.map((group) => row(group.group ?? '-', group)),
      row('total', total),
    ]),
    ...(total.images === 0 ? [] : ['', `Times of the images from: ${sources.join(', ')}.`]),
    ...(pending === 0 ? [] : [`${pending} image(s) have not ended and are not counted yet.`]),
  ];
}
