/** The generated section of bench/README.md, and how figures are shown. */
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import type { JudgedFigure } from './answer.js';
import type { ChartFile, RunRecord } from './run-record.js';

const SECTION = /<!-- gpu figures -->[\s\S]*<!-- end of gpu figures -->/;

const round = (value: number) => Number(value.toPrecision(4));

export function metWord({ goal, met }: JudgedFigure): string {
  if (goal === null) return '';
  return met === null ? 'not judged' : met ? 'yes' : 'no';
}

export function tableRow(figure: JudgedFigure): Record<string, string> {
  const { what, value, unit, baseline, ratio, goal } = figure;
  return {
    what,
    value: `${round(value)} ${unit}`,
    baseline: baseline === undefined ? '' : `${round(baseline.value)} (${baseline.what})`,
    ratio: ratio === undefined ? '' : ratio.toFixed(3),
    goal: goal ?? '',
    met: metWord(figure),
  };
}

/** Markdown; chart files are named beneath `charts`. Every line of figures names what it was measured on. */
export function section(record: RunRecord, charts: readonly ChartFile[], folder: string): string {
  const { gpu, addon } = record;
  const versions = [
    gpu.driver === null ? null : `driver ${gpu.driver}`,
    addon.cuda,
    `addon ${addon.version}`,
    record.commit === null ? null : `commit ${record.commit}`,
  ].filter((each) => each !== null);
  const parts = [
    `Measured ${record.date} on ${record.measuredOn} (${versions.join(', ')}) by \`${record.command}\`; ${record.machine}.`,
  ];
  for (const { question, title, figures, notes } of record.answers) {
    parts.push(
      `### ${title}`,
      [
        '| GPU | what | value | other side in the same run | ratio | goal | met |',
        '| --- | --- | --- | --- | --- | --- | --- |',
        ...figures.map(
          (figure) => `| ${[record.measuredOn, ...Object.values(tableRow(figure))].join(' | ')} |`,
        ),
      ].join('\n'),
      ...notes,
      ...charts
        .filter((chart) => chart.question === question)
        .map(({ file, title: text }) => `![${text}](${folder}${file})`),
    );
  }
  parts.push(...record.leftOut.map(({ question, why }) => `Left out: ${question}. ${why}`));
  return parts.join('\n\n');
}

export async function replaceSection(page: string, text: string): Promise<void> {
  const before = readFileSync(page, 'utf8');
  if (!SECTION.test(before)) throw new Error(`${page} has no section between the GPU markers.`);
  const marked = `<!-- gpu figures -->\n\n${text}\n\n<!-- end of gpu figures -->`;
  const config = await resolveConfig(import.meta.filename);
  writeFileSync(
    page,
    await format(
      before.replace(SECTION, () => marked),
      { parser: 'markdown', ...config },
    ),
  );
}
