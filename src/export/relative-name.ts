/** A path without what makes it absolute: exports name files relative to a folder of the reader's. */
export function relativeName(path: string): string {
  return path.replace(/^(?:\.?\/)+/, '');
}
