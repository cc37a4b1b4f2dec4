/** Rows as tables. The keys of the first row are the names of the columns. */
export type Row = Record<string, string>;

/** Columns in which no row has a word are left out. */
const columnsOf = (rows: readonly Row[]) =>
  Object.keys(rows[0] ?? {}).filter((name) => rows.some((row) => row[name] !== ''));

/** For a terminal: a line each beneath the names, columns aligned. */
export function textTable(rows: readonly Row[]): string {
  const names = columnsOf(rows);
  const lines = [names, ...rows.map((row) => names.map((name) => row[name] ?? ''))];
  const widths = names.map((_, at) => Math.max(...lines.map((line) => line[at]!.length)));
  return lines
    .map((line) =>
      line
        .map((word, at) => word.padEnd(widths[at]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function markdownTable(rows: readonly Row[]): string {
  const names = columnsOf(rows);
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(names),
    line(names.map(() => '---')),
    ...rows.map((row) => line(names.map((name) => row[name] ?? ''))),
  ].join('\n');
}
