/**
 * The parts of the help of a command with many options. A part is one row: its heading and the flags that stand under
 * it; `places:tag` is the flag of one command. A flag that no row names stands under `Other:`. The rows are in the
 * order of the help.
 */
import type { Command, Help } from 'commander';

const OPTION_GROUPS: readonly (readonly [heading: string, flags: string])[] = [
  [
    'What to look at:',
    'upload literal reuse watch places:tag from to by event-gap camera camera-pattern static region ' +
      'occupied no-occupied',
  ],
  [
    'How it watches:',
    'existing settle interval batch max-wait schedule camera-health add:event-gap paused',
  ],
  [
    'What to find:',
    'type model classes vehicle-types confidence class-thresholds iou merge-classes ' +
      'no-merge-classes max-detections min-size max-size tiles places',
  ],
  ['Which parts of a picture count:', 'regions view'],
  [
    'What to write:',
    'out format output json save drawn crops cover cover-with margin sort yes undo-sort',
  ],
  ['How the job runs:', 'max-failure-share priority callback-url wait timeout'],
  ['What people call the job:', 'name tag notes keep metadata'],
  ['Service:', 'url service api-key-file'],
  [
    'Address and access:',
    'env host port insecure api-keys-file cors-origins accept-images browse compat ' +
      'webhook-secret webhook-allow',
  ],
  [
    'Folders and models:',
    'image-roots models-dir model-family preload data-dir engine-cache-dir networks-max-mb ' +
      'model-memory-mb',
  ],
  ['This machine:', 'device gpus gpu-batches precision threads jobs-yield rectangles'],
  [
    'Several machines:',
    'cluster ray-address ray-namespace ray-token-file ray-dashboard ray-workers service-url ' +
      'worker-id node-id worker-token-file',
  ],
  [
    'Limits:',
    'max-file-bytes max-pixels max-side max-body-bytes uploads-max-mb max-images-per-job ' +
      'max-queued-jobs sync-deadline-ms sync-queue volume-patience-seconds',
  ],
  ['What is kept:', 'score-floor positions result-ttl-hours kept-counts store-max-mb'],
  ['Log, checks and stop:', 'log-level request-log canary-minutes watch-notices drain-seconds'],
];

/** The heading that commander gives to options without one. */
const UNGROUPED = 'Options:';
const OTHER = 'Other:';
/** A command with fewer options shows them as one list. */
const FEWEST = 16;

const HEADINGS = new Map(
  OPTION_GROUPS.flatMap(([heading, flags]) =>
    flags.split(' ').map((flag) => [flag, heading] as const),
  ),
);
const ORDER = [...OPTION_GROUPS.map(([heading]) => heading), OTHER];

/** Puts each option of the command under the heading of its row, where there are many and it has no heading yet. */
export function groupOptions(command: Command): void {
  if (command.options.length < FEWEST) return;
  for (const option of command.options) {
    const flag = option.long?.slice(2) ?? '';
    option.helpGroupHeading ??=
      HEADINGS.get(`${command.name()}:${flag}`) ?? HEADINGS.get(flag) ?? OTHER;
  }
}

/** Columns of the terms; the text of a longer term begins in the next line. */
const TERM_COLUMNS = 26;
const INDENT = 2;
const SPACER = 2;

/** How the help is laid out. */
export const HELP_LAYOUT: Partial<Help> = {
  minWidthToWrap: 20,
  groupItems(all, visible, getGroup) {
    const groups = new Map<string, typeof visible>();
    for (const item of all) groups.set(getGroup(item), []);
    const isGrouped = [...groups.keys()].some((heading) => ORDER.includes(heading));
    for (const item of visible) {
      const heading = getGroup(item);
      const shown = isGrouped && heading === UNGROUPED ? OTHER : heading;
      groups.set(shown, [...(groups.get(shown) ?? []), item]);
    }
    const place = ([heading]: [string, unknown]) => ORDER.indexOf(heading);
    return new Map([...groups].toSorted((one, other) => place(one) - place(other)));
  },
  padWidth(command, helper) {
    const longest = Math.max(
      helper.longestOptionTermLength(command, helper),
      helper.longestSubcommandTermLength(command, helper),
      helper.longestArgumentTermLength(command, helper),
    );
    return Math.min(longest, TERM_COLUMNS);
  },
  formatItem(term, termWidth, description, helper) {
    const margin = ' '.repeat(INDENT);
    if (description === '') return `${margin}${term}`;
    const column = INDENT + termWidth + SPACER;
    const width = (helper.helpWidth ?? 80) - column;
    const [first = '', ...more] = helper.boxWrap(description, width).split('\n');
    const next = `\n${' '.repeat(column)}`;
    const begin = term.length > termWidth ? next : ' '.repeat(termWidth - term.length + SPACER);
    return `${margin}${term}${begin}${[first, ...more].join(next)}`;
  },
};

/** Wraps the paragraphs of a text; lines that are indented stay, because they are commands to copy. */
export function wrapParagraphs(text: string, width: number): string {
  const lines: string[] = [];
  let joins = false;
  for (const line of text.split('\n')) {
    const isProse = line !== '' && !line.startsWith(' ');
    if (isProse && joins) lines.push(`${lines.pop()} ${line}`);
    else lines.push(line);
    // A sentence that begins a line stays at its beginning.
    joins = isProse && !/[.:]$/.test(line);
  }
  return lines.map((line) => (line.startsWith(' ') ? line : wrapped(line, width))).join('\n');
}

function wrapped(line: string, width: number): string {
  const rows: string[] = [];
  for (const word of line.split(' ')) {
    const last = rows.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) {
      rows[rows.length - 1] = `${last} ${word}`;
    } else rows.push(word);
  }
  return rows.join('\n');
}
