// eslint-disable-next-line no-control-regex -- control characters have one form too
const ASCII = /^[\x00-\x7f]*$/;

/**
 * The path, then those that look the same: some systems store é as one character (NFC), others as e and an accent
 * (NFD), and the person who types it cannot tell.
 */
export function unicodeForms(path: string): string[] {
  if (ASCII.test(path)) return [path];
  return [...new Set([path, path.normalize('NFC'), path.normalize('NFD')])];
}
