/**
 * `lattice job counts` and `lattice watch counts`: by image, event, folder, hour, day or folder and hour, as a
 * table, JSON or a CSV file.
 */
import type {
  Counts,
  CountsBy,
  CountsQuery,
  JobCountGroup,
  JobCounts,
} from '../../client/lattice-client.js';
import { printAnswer, type CsvFlags } from '../csv-output.js';
import { renderTable } from '../output-text.js';
import type { Terminal } from '../terminal.js';
import { groupingOf, type GroupingFlags, type HourFlags } from './count-flags.js';
import { leftOutLines } from './left-out-lines.js';
import { openClient, type AccessFlags } from './open-client.js';
import { questionOf, type QuestionFlags } from './question-flags.js';

export interface CountsFlags
  extends AccessFlags, QuestionFlags, CsvFlags, GroupingFlags<CountsBy> {}

export async function showCounts(
  jobId: string,
  flags: CountsFlags,
  terminal: Terminal,
): Promise<void> {
  const client = openClient(flags);
  const asked = { question: questionOf(flags) };
  const calls = {
    file: () => client.countsCsv(jobId, groupingOf(flags), asked),
    answer: () => client.counts(jobId, groupingOf(flags), asked),
  };
  await printAnswer(calls, countLines, flags, terminal);
}

export interface WatchCountsFlags
  extends Omit<CountsFlags, 'by'>, HourFlags, GroupingFlags<NonNullable<CountsQuery['by']>> {}

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
    answer: () => client.countsOf(scope, asked),
  };
  await printAnswer(calls, countLines, flags, terminal);
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
  folder_hour: [['hour', ({ time }) => time]],
};

function countLines({ by, total, groups, ...figures }: Counts | JobCounts): string[] {
  const classes = Object.keys(total.class_counts);
  const own = OWN_COLUMNS[by] ?? [];
  const header = [
    by === 'folder_hour' ? 'folder' : by,
    ...own.map(([name]) => name),
    'images',
    'failed',
    'empty',
    'boxes',
  ];
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
    ...leftOutLines(figures, REMOVED),
  ];
}
