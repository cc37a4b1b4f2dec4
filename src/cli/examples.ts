/** The end of a command's help. */
export function examples(...commands: readonly string[]): string {
  const title = commands.length === 1 ? 'Example' : 'Examples';
  return ['', `${title}:`, ...commands.map((each) => `  $ lattice ${each}`)].join('\n');
}
