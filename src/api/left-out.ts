/** Files that a job does not have although they lie beside its images. */

/** How many, by kind: the ending of a name, or a word such as `video`. */
export type LeftOut = Record<string, number>;

/** End of a kind that counts things: `2 videos`, but `2 HEIC`. */
const NOUN = /(?:video|file|name)$/;

/** `6 HEIC, 1 video`, most first; '' where none was. */
export function kindsText(leftOut: LeftOut): string {
  return Object.entries(leftOut)
    .sort(([, one], [, other]) => other - one)
    .map(([kind, count]) => `${count} ${kind}${count > 1 && NOUN.test(kind) ? 's' : ''}`)
    .join(', ');
}

/** `7 files left out: 6 HEIC, 1 video`; '' where none was. */
export function leftOutSentence(leftOut: LeftOut): string {
  const files = Object.values(leftOut).reduce((sum, count) => sum + count, 0);
  if (files === 0) return '';
  return `${files} ${files === 1 ? 'file' : 'files'} left out: ${kindsText(leftOut)}`;
}
