/** Owner of a row: the API key, '' without keys. */
export function ownerOf(keyId: string | null): string {
  return keyId ?? '';
}
