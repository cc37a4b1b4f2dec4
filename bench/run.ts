/**
 * `npm run bench`: every question in a process of its own, then bench/results/DATE.json and the tables of
 * bench/README.md and docs/scale.md. `npm run bench -- scale` does so for the questions of docs/scale.md alone;
 * `npm run bench -- submit cluster` asks only those and records nothing.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { figureRow } from './figure-row.js';
import { machine, replaceSection } from './figures-page.js';
import type { Measurement } from './setting.js';
import { markdownTable, textTable } from './tables.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** The figures of docs/scale.md; those of all others are in bench/README.md. */
const SCALE = ['cluster', 'large-jobs', 'submit'];
const MARK = '=== measurements ';
/** Threads that the sources start run as compiled files, as in tests. */
const THREADS = new URL('../test/support/compiled-threads.mjs', import.meta.url).href;

type Answered = Measurement & { question: string };

async function main(): Promise<void> {
  const [first, ...rest] = process.argv.slice(2);
  if (first === '--only' && rest[0] !== undefined) {
    await ask(rest[0]);
    return;
  }
  const all = readdirSync(HERE)
    .filter((file) => file.endsWith('.bench.ts'))
    .map((file) => file.replace('.bench.ts', ''));
  const named = first === undefined ? all : [first, ...rest];
  const wanted = first === 'scale' ? SCALE : named;
  if (!wanted.every((question) => all.includes(question))) {
    console.error(`npm run bench [-- QUESTION...], of scale, ${all.join(', ')}`);
    process.exitCode = 2;
    return;
  }
  const answered: Answered[] = [];
  for (const question of wanted) {
    console.log(`== ${question}`);
    const asked = spawnSync(
      process.execPath,
      [
        ...['--import', THREADS, '--import', 'tsx'],
        ...[fileURLToPath(import.meta.url), '--only', question],
      ],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 26 },
    );
    const line = asked.stdout.split('\n').find((each) => each.startsWith(MARK));
    if (line === undefined) throw new Error(`${question} gave no figures:\n${asked.stdout}`);
    const answers = JSON.parse(line.slice(MARK.length)) as Measurement[];
    console.log(textTable(answers.map(figureRow)));
    answered.push(...answers.map((answer) => ({ question, ...answer })));
  }
  const isOfScale = ({ question }: Answered) => SCALE.includes(question);
  if (first === undefined) {
    const others = answered.filter((each) => !isOfScale(each));
    await record(`${HERE}README.md`, 'npm run bench', '', others);
  }
  if (first === undefined || first === 'scale') {
    const page = `${HERE}../docs/scale.md`;
    await record(page, 'npm run bench -- scale', 'scale-', answered.filter(isOfScale));
  }
}

async function ask(question: string): Promise<void> {
  const file = pathToFileURL(`${HERE}${question}.bench.ts`).href;
  const loaded = (await import(file)) as { default: () => Promise<Measurement[]> };
  console.log(MARK + JSON.stringify(await loaded.default()));
}

/** Into a file of results/, and into the page's section "figures", where each question has a table. */
async function record(
  page: string,
  command: string,
  prefix: string,
  measurements: Answered[],
): Promise<void> {
  const date = new Date().toISOString().slice(0, 10);
  mkdirSync(`${HERE}results`, { recursive: true });
  writeFileSync(
    `${HERE}results/${prefix}${date}.json`,
    `${JSON.stringify({ date, machine: machine(), command, measurements }, null, 2)}\n`,
  );
  const questions = [...new Set(measurements.map(({ question }) => question))];
  const tables = questions.map((question) => {
    const rows = measurements.filter((each) => each.question === question);
    return `### ${question}\n\n${markdownTable(rows.map(figureRow))}`;
  });
  const text = [`Measured ${date} by \`${command}\` on ${machine()}.`, ...tables].join('\n\n');
  await replaceSection(page, 'figures', text);
}

await main();
