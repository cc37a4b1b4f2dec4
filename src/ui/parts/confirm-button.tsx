import { useSignal } from '@preact/signals';
import type { ComponentChildren, TargetedEvent } from 'preact';
import { Button } from './button.js';
import { Modal } from './modal.js';

interface ConfirmProps {
  label: string;
  /** Name of the button, where the label does not say what it is about. */
  name?: string;
  /** The question of the dialog. */
  title: string;
  /** Text of the button that confirms. Absent: the label. */
  confirm?: string;
  disabled?: boolean;
  /** `primary`: nothing is lost by it. */
  kind?: 'danger' | 'primary';
  onConfirm: () => void;
  /** The things that are removed, and those that stay. */
  children: ComponentChildren;
}

/** The dialog gives the focus back when it is closed, not when it goes. */
function close({ currentTarget }: TargetedEvent<HTMLElement>): void {
  currentTarget.closest('dialog')?.close();
}

/** A button for what is asked first: a dialog says what goes, and what comes. */
export function ConfirmButton(props: ConfirmProps) {
  const isOpen = useSignal(false);
  const { label, name, title, confirm = label, disabled, onConfirm, children } = props;
  const { kind = 'danger' } = props;
  return (
    <>
      <Button
        class={kind === 'danger' ? kind : undefined}
        {...(name !== undefined && { name })}
        disabled={disabled}
        onClick={() => (isOpen.value = true)}
      >
        {label}
      </Button>
      {isOpen.value && (
        <Modal title={title} onClose={() => (isOpen.value = false)}>
          {children}
          <p class="row confirm-foot">
            <Button autofocus onClick={close}>
              Leave it
            </Button>
            <Button
              class={kind}
              onClick={(event) => {
                close(event);
                onConfirm();
              }}
            >
              {confirm}
            </Button>
          </p>
        </Modal>
      )}
    </>
  );
}
