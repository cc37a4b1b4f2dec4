/** Rows as tables. The keys of the first row are the names of the columns. */
export type Row = Record<string, string>;

/** For a terminal: a line each beneath the names, columns aligned, those without a word left out. */
export function textTable(rows: readonly Row[]): string {
  const names = Object.keys(rows[0] ?? {}).filter((name) => rows.some((row) => row[name] !== ''));
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
  const names = Object.keys(rows[0] ?? {});
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(names),
    line(names.map(() => '---')),
    ...rows.map((row) => line(names.map((name) => row[name] ?? ''))),
  ].join('\n');
}
