import { useSignal } from '@preact/signals';
import { Button } from './button.js';

const SHOWN_MS = 1_500;

export function CopyButton({ text, what, label }: { text: string; what: string; label?: string }) {
  const state = useSignal<'idle' | 'copied' | 'refused'>('idle');
  const copy = async (button: HTMLElement): Promise<void> => {
    state.value = (await copied(text, button)) ? 'copied' : 'refused';
    setTimeout(() => (state.value = 'idle'), SHOWN_MS);
  };
  const said = { idle: label ?? '', copied: 'Copied', refused: 'Not allowed' };
  return (
    <Button
      icon={state.value === 'copied' ? 'check' : 'copy'}
      class={label === undefined ? 'quiet icon-button' : 'quiet'}
      name={`Copy ${what}`}
      onClick={({ currentTarget }) => void copy(currentTarget)}
    >
      <span role="status">{said[state.value]}</span>
    </Button>
  );
}

async function copied(text: string, beside: HTMLElement): Promise<boolean> {
  // Pages of plain `http://` addresses have no clipboard, whatever the types say.
  if (!window.isSecureContext) return copiedBySelection(text, beside);
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}

/** The field lies beside the button: a dialog takes the focus from all that is outside of it. */
function copiedBySelection(text: string, beside: HTMLElement): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'hidden-label';
  beside.after(field);
  field.select();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- there is no other way without a secure context
  const isDone = document.execCommand('copy');
  field.remove();
  beside.focus();
  return isDone;
}
