/** Asks for the API key where the service wants one. */
import { named, setText } from './elements.js';
import { keyFault, type KeyStore } from './key-store.js';

export interface KeyPrompt {
  /** Shows itself; a key that is kept was not known to the service. */
  ask(): void;
  readonly isOpen: boolean;
}

/** `onKey` is called with the store changed: a new key was entered, or the one there was is forgotten. */
export function createKeyPrompt(keys: KeyStore, onKey: () => void): KeyPrompt {
  const page = named('key-page', HTMLElement);
  const input = named('key', HTMLInputElement);
  const fault = named('key-fault', HTMLElement);
  const forget = named('forget-key', HTMLButtonElement);

  const changed = (): void => {
    page.hidden = true;
    forget.hidden = keys.get() === null;
    onKey();
  };
  named('key-form', HTMLFormElement).addEventListener('submit', (submitted) => {
    submitted.preventDefault();
    const reason = keyFault(input.value);
    setText(fault, reason ?? '');
    if (reason !== null) return;
    keys.set(input.value);
    input.value = '';
    changed();
  });
  forget.addEventListener('click', () => {
    keys.forget();
    changed();
  });
  forget.hidden = keys.get() === null;
  return {
    ask: () => {
      if (keys.get() !== null) setText(fault, 'The service does not know this key.');
      keys.forget();
      forget.hidden = true;
      page.hidden = false;
      input.focus();
    },
    get isOpen() {
      return !page.hidden;
    },
  };
}
