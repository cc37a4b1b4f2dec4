/** One line per box. Images without boxes and failed images have no line. */
import { boxColumns, boxRows, type BoxColumn, type BoxRow } from './box-columns.js';
import type { ExportSource } from './export-source.js';

export async function* writeCsv(source: ExportSource): AsyncGenerator<string, void> {
  const columns = boxColumns(source);
  let text = `${columns.map(({ name }) => name).join(',')}\r\n`;
  for await (const rows of boxRows(source)) {
    yield text + rows.map((row) => lineOf(row, columns)).join('');
    text = '';
  }
  if (text !== '') yield text;
}

function lineOf(row: BoxRow, columns: readonly BoxColumn[]): string {
  const cells = columns.map(({ kind, value }) => {
    const content = value(row);
    if (content === undefined) return '';
    return kind === 'text' ? cell(String(content)) : content;
  });
  return `${cells.join(',')}\r\n`;
}

/**
 * A cell of a table that people open: spreadsheets run one that begins like a formula, and an apostrophe makes it text.
 */
export function cell(text: string): string {
  return exactCell(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
}

/** A cell of a table that programs read, as RFC 4180 has it: they find files by it. */
export function exactCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
