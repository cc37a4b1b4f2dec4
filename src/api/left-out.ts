/** Files that a job does not have although they lie beside its images: counted, and said in words. */

/** How many, by kind: the ending of a name, or a word such as `video`. */
export type LeftOut = Record<string, number>;

/** Kinds that are nouns take a plural: `2 videos`, but `2 HEIC`. */
const NOUN = /(?:video|file|name|link)$/;

export function countKinds(kinds: Iterable<string>): LeftOut {
  const counts: LeftOut = {};
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

export function addLeftOut(sum: LeftOut, more: LeftOut): void {
  for (const [kind, count] of Object.entries(more)) sum[kind] = (sum[kind] ?? 0) + count;
}

/** `6 HEIC, 1 video`, most first; '' where none was. */
function kindsText(leftOut: LeftOut): string {
  return Object.entries(leftOut)
    .sort(([, one], [, other]) => other - one)
    .map(([kind, count]) => `${count} ${kind}${count > 1 && NOUN.test(kind) ? 's' : ''}`)
    .join(', ');
}

/** `7 files left out: 6 HEIC, 1 video`; '' where none was. */
export function leftOutFiles(leftOut: LeftOut): string {
  const files = Object.values(leftOut).reduce((sum, count) => sum + count, 0);
  if (files === 0) return '';
  return `${files} ${files === 1 ? 'file' : 'files'} left out: ${kindsText(leftOut)}`;
}

/** `; left out: 3 .heic, 1 .gif`; '' where none was. */
export function leftOutClause(leftOut: LeftOut): string {
  const kinds = kindsText(leftOut);
  return kinds === '' ? '' : `; left out: ${kinds}`;
}

/** `12 images; left out: 3 .heic`. */
export function imagesText(count: number, leftOut: LeftOut): string {
  return `${count === 1 ? '1 image' : `${count} images`}${leftOutClause(leftOut)}`;
}
