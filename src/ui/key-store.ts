/** Which texts can be an API key. */

/** Why a text cannot be a key, or null. A header carries ASCII only. */
export function keyFault(text: string): string | null {
  if (text === '') return 'Enter a key.';
  return /^[!-~]+$/.test(text) ? null : 'A key has no spaces and no letters beyond ASCII.';
}

/** The characters that a sub-protocol may have. */
const PROTOCOL = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * The sub-protocols that carry the key: a browser cannot set headers of a WebSocket. Throws for a key with other
 * characters: the browser's error message would contain the key.
 */
export function socketProtocols(key: string | null): string[] {
  if (key === null) return ['lattice'];
  if (!PROTOCOL.test(key)) {
    throw new Error('This key has characters that a browser cannot offer to a WebSocket.');
  }
  return ['lattice', `bearer.${key}`];
}
