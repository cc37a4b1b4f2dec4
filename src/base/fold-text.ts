/** Text for comparison without letter case, in every script. */

/**
 * Equal for texts that differ in letter case or Unicode form only: upper case first, because some letters have one
 * lower case too many (ß and ss, the two Greek sigmas).
 */
export function foldText(text: string): string {
  return text.normalize('NFKC').toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}
