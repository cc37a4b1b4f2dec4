/** The text of a GPU's section of bench/README.md, and how figures are shown. */
import { markdownTable, type Row } from '../tables.js';
import type { JudgedFigure } from './answer.js';
import type { ChartFile, RunRecord } from './run-record.js';

const round = (value: number) => Number(value.toPrecision(4));

export function metWord({ goal, met }: JudgedFigure): string {
  if (goal === null) return '';
  return met === null ? 'not judged' : met ? 'yes' : 'no';
}

export function tableRow(figure: JudgedFigure): Row {
  const { what, value, unit, baseline, ratio, goal } = figure;
  return {
    what,
    value: `${round(value)} ${unit}`,
    'baseline in the same run':
      baseline === undefined ? '' : `${round(baseline.value)} (${baseline.what})`,
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
      markdownTable(figures.map((figure) => ({ GPU: record.measuredOn, ...tableRow(figure) }))),
      ...notes,
      ...charts
        .filter((chart) => chart.question === question)
        .map(({ file, title: text }) => `![${text}](${folder}${file})`),
    );
  }
  parts.push(...record.leftOut.map(({ question, why }) => `Left out: ${question}. ${why}`));
  return parts.join('\n\n');
}
