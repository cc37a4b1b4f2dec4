/**
 * `npm run bench`: every question in a process of its own, then bench/results/DATE.json and the table of
 * bench/README.md. `npm run bench -- submit cluster` asks only those.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { machine, replaceSection } from './figures-page.js';
import type { Measurement } from './setting.js';
import { markdownTable, textTable, type Row } from './tables.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const MARK = '=== measurements ';

async function main(): Promise<void> {
  const [first, ...rest] = process.argv.slice(2);
  if (first === '--only' && rest[0] !== undefined) {
    await ask(rest[0]);
    return;
  }
  const all = readdirSync(HERE)
    .filter((file) => file.endsWith('.bench.ts'))
    .map((file) => file.replace('.bench.ts', ''));
  const wanted = first === undefined ? all : [first, ...rest];
  if (!wanted.every((question) => all.includes(question))) {
    console.error(`npm run bench [-- QUESTION...], of ${all.join(', ')}`);
    process.exitCode = 2;
    return;
  }
  const rows: Measurement[] = [];
  for (const question of wanted) {
    console.log(`== ${question}`);
    const asked = spawnSync(
      process.execPath,
      ['--import', 'tsx', fileURLToPath(import.meta.url), '--only', question],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 26 },
    );
    const line = asked.stdout.split('\n').find((each) => each.startsWith(MARK));
    if (line === undefined) throw new Error(`${question} gave no figures:\n${asked.stdout}`);
    const answers = JSON.parse(line.slice(MARK.length)) as Measurement[];
    console.log(textTable(answers.map(tableRow)));
    rows.push(...answers);
  }
  if (first === undefined) await record(rows);
}

async function ask(question: string): Promise<void> {
  const file = pathToFileURL(`${HERE}${question}.bench.ts`).href;
  const loaded = (await import(file)) as { default: () => Promise<Measurement[]> };
  console.log(MARK + JSON.stringify(await loaded.default()));
}

const round = (value: number) => Number(value.toPrecision(4));

function tableRow(row: Measurement): Row {
  return {
    what: row.what,
    value: `${round(row.value)} ${row.unit}`,
    'baseline in the same run': row.baseline
      ? `${round(row.baseline.value)} (${row.baseline.what})`
      : '',
    ratio: row.ratio === undefined ? '' : row.ratio.toFixed(2),
    goal: row.goal ?? '',
    met: row.met === undefined ? '' : row.met ? 'yes' : 'no',
  };
}

async function record(rows: Measurement[]): Promise<void> {
  const date = new Date().toISOString().slice(0, 10);
  const command = 'npm run bench';
  mkdirSync(`${HERE}results`, { recursive: true });
  writeFileSync(
    `${HERE}results/${date}.json`,
    `${JSON.stringify({ date, machine: machine(), command, measurements: rows }, null, 2)}\n`,
  );
  const text = `Measured ${date} by \`${command}\` on ${machine()}.\n\n${markdownTable(rows.map(tableRow))}`;
  await replaceSection(`${HERE}README.md`, 'figures', text);
}

await main();
