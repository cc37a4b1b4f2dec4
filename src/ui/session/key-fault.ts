/** Decides which texts can be an API key. */

/** Why a text cannot be a key, or null. A header carries ASCII only. */
export function keyFault(text: string): string | null {
  if (text === '') return 'Enter a key.';
  return /^[!-~]+$/.test(text) ? null : 'A key has no spaces and no letters beyond ASCII.';
}
