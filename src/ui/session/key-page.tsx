import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { keyFault } from './key-fault.js';
import { enterKey, keyAsked } from './session.js';

/** Asks for the API key. */
export function KeyPage() {
  const input = useRef<HTMLInputElement>(null);
  const fault = useSignal(
    keyAsked.value === 'unknown' ? 'The service does not know this key.' : '',
  );
  useEffect(() => input.current?.focus(), []);
  const onSubmit = (event: SubmitEvent): void => {
    event.preventDefault();
    const key = input.current?.value ?? '';
    const reason = keyFault(key);
    fault.value = reason ?? '';
    if (reason === null) enterKey(key);
  };
  return (
    <section class="card key-page">
      <h1>API key</h1>
      <p>
        This service answers to known keys only. The key is kept in this tab until it is closed.
      </p>
      <form class="row" autocomplete="off" onSubmit={onSubmit}>
        <label class="field grows">
          <span>Key</span>
          <input ref={input} name="key" type="password" autocomplete="off" spellcheck={false} />
        </label>
        <button class="primary">Use this key</button>
      </form>
      <p class="fault" role="alert">
        {fault}
      </p>
    </section>
  );
}
