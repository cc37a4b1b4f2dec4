/** Rows for a terminal: a line each beneath their names, columns aligned, those without a word left out. */
export function textTable(rows: readonly Record<string, string>[]): string {
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
