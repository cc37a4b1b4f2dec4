import { useSignal } from '@preact/signals';
import type { ComponentChildren, TargetedEvent } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from './button.js';

interface InPlaceProps {
  /** Name of the field. */
  label: string;
  text: string;
  most: number;
  /** Several lines; Enter begins a new one. */
  isLong?: boolean;
  placeholder?: string;
  /** Text of the button that begins the edit. Absent: the button is a pencil. */
  begin?: string | undefined;
  /** False: it was refused, and what was written stays. */
  onSave: (text: string) => Promise<boolean>;
  /** The text while it is not being changed. */
  children: ComponentChildren;
}

/** A text that is changed where it stands: Enter saves, Escape leaves it as it was. */
export function InPlace(props: InPlaceProps) {
  const { label, text, most, isLong = false, placeholder, begin, onSave, children } = props;
  const place = useRef<HTMLFormElement & HTMLDivElement>(null);
  const isOpen = useSignal(false);
  const wasOpen = useRef(false);
  const isBusy = useSignal(false);
  // Set the focus before the next key arrives, which belongs to the field.
  useLayoutEffect(() => {
    if (isOpen.value) place.current?.querySelector<HTMLElement>('input, textarea')?.focus();
    else if (wasOpen.current) place.current?.querySelector('button')?.focus();
    wasOpen.current = isOpen.value;
  }, [isOpen.value]);
  if (!isOpen.value) {
    return (
      <div ref={place} class="in-place">
        {children}
        <Button
          icon="edit"
          {...(begin === undefined
            ? { class: 'quiet icon-button', name: `Change the ${label.toLowerCase()}` }
            : { class: 'quiet' })}
          onClick={() => (isOpen.value = true)}
        >
          {begin}
        </Button>
      </div>
    );
  }
  const submit = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const written = new FormData(event.currentTarget).get('text') as string;
    isBusy.value = true;
    if (await onSave(written)) isOpen.value = false;
    isBusy.value = false;
  };
  const field = { name: 'text', 'aria-label': label, maxLength: most, placeholder };
  return (
    <form
      ref={place}
      class="in-place open"
      onSubmit={(event) => void submit(event)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') isOpen.value = false;
      }}
    >
      {isLong ? (
        <textarea {...field} rows={4} defaultValue={text} />
      ) : (
        <input {...field} defaultValue={text} autocomplete="off" />
      )}
      <button class="primary" disabled={isBusy.value}>
        Save
      </button>
      <Button onClick={() => (isOpen.value = false)}>Cancel</Button>
    </form>
  );
}
