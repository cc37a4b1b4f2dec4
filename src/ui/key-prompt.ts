/** Asks the user for the API key if the service needs one. */
import { named, setText } from './elements.js';
import { keyFault } from './key-store.js';

const NAME = 'lattice-api-key';

/** The API key. The browser keeps it until this tab is closed. */
export const savedKey = {
  get: () => sessionStorage.getItem(NAME),
  set: (key: string) => {
    sessionStorage.setItem(NAME, key);
  },
  forget: () => {
    sessionStorage.removeItem(NAME);
  },
};

export interface KeyPrompt {
  /** Shows the form. The service has refused the saved key, if there is one. */
  ask(): void;
  readonly isOpen: boolean;
}

/** `onKey` is called after the user has entered a key or removed the saved one. */
export function createKeyPrompt(onKey: () => void): KeyPrompt {
  const page = named('key-page', HTMLElement);
  const input = named('key', HTMLInputElement);
  const fault = named('key-fault', HTMLElement);
  const forget = named('forget-key', HTMLButtonElement);

  const changed = (): void => {
    page.hidden = true;
    forget.hidden = savedKey.get() === null;
    onKey();
  };
  named('key-form', HTMLFormElement).addEventListener('submit', (submitted) => {
    submitted.preventDefault();
    const reason = keyFault(input.value);
    setText(fault, reason ?? '');
    if (reason !== null) return;
    savedKey.set(input.value);
    input.value = '';
    changed();
  });
  forget.addEventListener('click', () => {
    savedKey.forget();
    changed();
  });
  forget.hidden = savedKey.get() === null;
  return {
    ask: () => {
      if (savedKey.get() !== null) setText(fault, 'The service does not know this key.');
      savedKey.forget();
      forget.hidden = true;
      page.hidden = false;
      input.focus();
    },
    get isOpen() {
      return !page.hidden;
    },
  };
}
