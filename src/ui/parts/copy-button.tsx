import { useSignal } from '@preact/signals';
import { Icon } from './icon.js';

const SHOWN_MS = 1_500;

/** Pages of plain `http://` addresses have no clipboard: there the text is selected in a field, to be copied by hand. */
export function CopyButton({ text, what, label }: { text: string; what: string; label?: string }) {
  const state = useSignal<'idle' | 'copied' | 'refused'>('idle');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      state.value = 'copied';
    } catch {
      state.value = 'refused';
    }
    setTimeout(() => (state.value = 'idle'), SHOWN_MS);
  };
  const said = { idle: label ?? '', copied: 'Copied', refused: 'Not allowed: select the text' };
  return (
    <button
      type="button"
      class={label === undefined ? 'quiet icon-button' : 'quiet'}
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      onClick={() => void copy()}
    >
      <Icon name={state.value === 'copied' ? 'check' : 'copy'} />
      <span role="status">{said[state.value]}</span>
    </button>
  );
}
