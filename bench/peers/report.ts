/**
 * The results of a run: for the terminal, as bench/results/peers-DATE.json and as the table of bench/peers/README.md.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../test/support/service-process.js';
import { machine, replaceSection } from '../figures-page.js';
import { markdownTable, textTable, type Row } from '../tables.js';
import type { PhotoSet } from './photo-sets.js';
import type { Spread } from './round-figures.js';
import { OURS, OURS_SQUARE, PYTHON } from './sides.js';
import { GOALS, isMet, strongest, type Standing } from './standing.js';

export interface Outcome {
  /** Name of the file. */
  model: string;
  rounds: number;
  /** Load average of the machine before the servers were started. */
  loadBefore: number;
  sets: (PhotoSet & { standings: Standing[] })[];
  servers: { name: string; residentMiB: number; cpuMsInPauses: number }[];
}

export function show(outcome: Outcome): void {
  for (const set of outcome.sets) {
    console.log(`\n${set.what}\n${textTable(rowsOf(outcome, set))}\n`);
    console.log(textTable(goalRows(set)));
  }
  const paused = outcome.servers.reduce((sum, { cpuMsInPauses }) => sum + cpuMsInPauses, 0);
  console.log(`\nCPU time of paused servers: ${paused} ms in all.`);
}

function rowsOf({ servers }: Outcome, { standings }: Outcome['sets'][number]): Row[] {
  return standings.map((each) => ({
    server: each.name,
    boxes: String(each.boxes),
    'recall, precision': shares(each.recall, each.precision) + (each.ranked ? '' : ': not ranked'),
    'against the square': shares(each.squareRecall, each.squarePrecision),
    'mAP50-95 above 0.25': each.precisionOnLabels?.toFixed(3) ?? '',
    'ms, 1 client': each.latencyMs.toFixed(1),
    'our time / its': spreadText(each.against[OURS]?.latency),
    'square: our time / its': spreadText(each.against[OURS_SQUARE]?.latency),
    'req/s, 8 clients':
      each.perSecond.toFixed(1) + (each.refused > 0 ? ` (${each.refused} refused)` : ''),
    'our req/s / its': spreadText(each.against[OURS]?.rate),
    'square: our req/s / its': spreadText(each.against[OURS_SQUARE]?.rate),
    MiB: servers.find(({ name }) => name === each.name)?.residentMiB.toFixed(0) ?? '',
  }));
}

/** Each goal against the strongest of its rivals; beside it the strongest of them with the smallest rectangles. */
function goalRows({ name, standings }: Outcome['sets'][number]): Row[] {
  return GOALS[name].map((goal) => {
    const { rivals } = goal;
    const rival = strongest(standings, goal, rivals);
    const rectangles = strongest(standings, goal, { ...rivals, shapes: ['rectangles'] });
    return {
      figure: `${goal.ours}: ${goal.figure === 'latency' ? 'time, 1 client' : 'req/s, 8 clients'}`,
      rivals: rivals.file,
      'by that of the strongest': spreadText(rival?.ratio),
      which: rival?.name ?? 'none is ranked',
      goal: `${goal.figure === 'latency' ? '<=' : '>='} ${goal.limit}`,
      met: rival === null ? '' : isMet(goal, rival.ratio.median) ? 'yes' : 'no',
      'by the strongest with rectangles': spreadText(rectangles?.ratio),
    };
  });
}

const shares = (recall: number, precision: number) =>
  `${recall.toFixed(3)}, ${precision.toFixed(3)}`;

function spreadText(spread: Spread | undefined): string {
  if (spread === undefined) return '';
  const { q1, median, q3 } = spread;
  return `${median.toFixed(2)} (${q1.toFixed(2)} to ${q3.toFixed(2)})`;
}

export async function publish(outcome: Outcome): Promise<void> {
  const date = new Date().toISOString().slice(0, 10);
  const folder = join(PROJECT_ROOT, 'bench/results');
  mkdirSync(folder, { recursive: true });
  const record = {
    date,
    machine: machine(),
    command: 'npm run bench:peers',
    ...outcome,
    versions: versions(),
  };
  writeFileSync(join(folder, `peers-${date}.json`), `${JSON.stringify(record, null, 2)}\n`);

  const page = join(PROJECT_ROOT, 'bench/peers/README.md');
  const tables = outcome.sets.map(
    (set) =>
      `**${set.what}**\n\n${markdownTable(rowsOf(outcome, set))}\n\n${markdownTable(goalRows(set))}`,
  );
  const text =
    `Measured ${date} by \`npm run bench:peers\`, ${outcome.rounds} rounds of \`${outcome.model}\` on ${machine()} ` +
    `([all figures](../results/peers-${date}.json)):\n\n${tables.join('\n\n')}`;
  await replaceSection(page, 'figures', text);
}

function versions(): string[] {
  const python = spawnSync(PYTHON, ['-m', 'pip', 'freeze'], { encoding: 'utf8' });
  const file = join(PROJECT_ROOT, 'bench/peers/onnxruntime-node/package.json');
  const { dependencies } = JSON.parse(readFileSync(file, 'utf8')) as {
    dependencies: Record<string, string>;
  };
  return [
    ...(existsSync(PYTHON) ? python.stdout.trim().split('\n') : []),
    ...Object.entries(dependencies).map(([name, version]) => `${name}@${version}`),
  ];
}
