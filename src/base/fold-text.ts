/** Text for comparison without letter case, in every script. */

/**
 * Equal for texts that differ in letter case or Unicode form only. Upper case comes first: it makes SS of ß. The sigma
 * of word ends is replaced because `toLowerCase` writes it there. Folded texts are stored (`job_listings`): a change
 * needs a migration.
 */
export function foldText(text: string): string {
  return text.normalize('NFKC').toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}
