/**
 * `lattice job counts` and `lattice watch counts`: by image, event, folder, hour or day, as a table, JSON or a CSV
 * file.
 */
import type {
  Counts,
  CountsBy,
  CountsQuery,
  JobCountGroup,
  JobCounts,
} from '../../client/lattice-client.js';
import { writeOutput } from '../output-file.js';
import { renderTable } from '../output-text.js';
import type { Terminal } from '../terminal.js';
import { groupingOf, type GroupingFlags } from './count-flags.js';
import { openClient, type AccessFlags } from './open-client.js';
import { questionOf, type QuestionFlags } from './question-flags.js';

export interface CountsFlags extends AccessFlags, QuestionFlags, GroupingFlags<CountsBy> {
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
  const calls = {
    file: () => client.countsCsv(jobId, groupingOf(flags), asked),
    counts: () => client.counts(jobId, groupingOf(flags), asked),
  };
  await print(calls, countLines, flags, terminal);
}

export interface WatchCountsFlags
  extends Omit<CountsFlags, 'by'>, GroupingFlags<NonNullable<CountsQuery['by']>> {
  from?: string;
  to?: string;
}

export async function showWatchCounts(
  watch: string,
  flags: WatchCountsFlags,
  terminal: Terminal,
): Promise<void> {
  const client = openClient(flags);
  const asked = { question: questionOf(flags) };
  const { from, to } = flags;
  const scope = { watch, ...groupingOf(flags), from, to };
  const calls = {
    file: () => client.countsOfCsv(scope, asked),
    counts: () => client.countsOf(scope, asked),
  };
  const lines = (counts: Counts) => [...countLines(counts), ...leftOutLines(counts)];
  await print(calls, lines, flags, terminal);
}

interface CountCalls<T> {
  file: () => AsyncGenerator<Uint8Array<ArrayBuffer>, void>;
  counts: () => Promise<T>;
}

async function print<T>(
  { file, counts }: CountCalls<T>,
  lines: (counts: T) => string[],
  { format, output, json }: Pick<CountsFlags, 'format' | 'output' | 'json'>,
  terminal: Terminal,
): Promise<void> {
  if (format === 'csv') {
    await writeOutput(file(), output, terminal);
    return;
  }
  const found = await counts();
  if (json === true) terminal.out(JSON.stringify(found));
  else for (const line of lines(found)) terminal.out(line);
}

function leftOutLines({
  removed_images: removed,
  unanswered_images: unanswered,
}: Counts): string[] {
  return [
    ...(removed === 0 ? [] : [`The results of ${removed} image(s) are removed: ${REMOVED}.`]),
    ...(unanswered === 0
      ? []
      : [`${unanswered} image(s) are not counted: their boxes cannot answer this question.`]),
  ];
}

const REMOVED =
  'they count as their jobs asked, and neither by event nor where another question is asked';

type OwnColumn = [
  name: string,
  cell: (group: Omit<JobCountGroup, 'group'>) => string | null | undefined,
];

/** Columns of groups that have more than their name. */
const OWN_COLUMNS: Partial<Record<CountsBy, OwnColumn[]>> = {
  image: [
    ['time', ({ time }) => time],
    ['from', ({ time_source: source }) => source],
  ],
  event: [
    ['last', ({ last_time: last }) => last],
    ['camera', ({ camera }) => camera],
    ['best image', ({ best_image: best }) => best?.image_path],
  ],
};

function countLines({
  by,
  total,
  groups,
  pending_images: pending,
}: Pick<JobCounts, 'by' | 'total' | 'groups' | 'pending_images'>): string[] {
  const classes = Object.keys(total.class_counts);
  const own = OWN_COLUMNS[by] ?? [];
  const header = [by, ...own.map(([name]) => name), 'images', 'failed', 'empty', 'boxes'];
  const row = (name: string, group: Omit<JobCountGroup, 'group'>): string[] => [
    name,
    ...own.map(([, cell]) => cell(group) ?? '-'),
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
