/** The API key: kept for this tab until it is closed. */

const NAME = 'lattice-api-key';

/** What is needed of `sessionStorage`. */
export interface TabStorage {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

export class KeyStore {
  readonly #storage: TabStorage;

  constructor(storage: TabStorage) {
    this.#storage = storage;
  }

  get(): string | null {
    return this.#storage.getItem(NAME);
  }

  set(key: string): void {
    this.#storage.setItem(NAME, key);
  }

  forget(): void {
    this.#storage.removeItem(NAME);
  }
}

/** Why a text cannot be a key, or null. A header cannot carry what is not ASCII. */
export function keyFault(text: string): string | null {
  if (text === '') return 'Enter a key.';
  return /^[!-~]+$/.test(text) ? null : 'A key has no spaces and no letters beyond ASCII.';
}

/** The characters that a sub-protocol may have. */
const PROTOCOL = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * The sub-protocols that bring the key to the socket: a browser cannot set its headers. Throws for a key that they
 * cannot carry; the browser's own error would show it.
 */
export function socketProtocols(key: string | null): string[] {
  if (key === null) return ['lattice'];
  if (!PROTOCOL.test(key)) {
    throw new Error('This key has characters that a browser cannot offer to a WebSocket.');
  }
  return ['lattice', `bearer.${key}`];
}
