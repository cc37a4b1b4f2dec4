import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from './button.js';

/** A dialog over the page: it holds the focus, and Escape closes it. */
export function Modal(props: {
  title: string;
  onClose: () => void;
  wide?: boolean;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Opened in the task that mounts it: otherwise a key pressed right after would go to the page beneath.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      class={props.wide === true ? 'modal wide' : 'modal'}
      aria-labelledby={heading}
      onClose={props.onClose}
      onClick={(event) => {
        // The dialog itself is hit outside of its content only.
        if (event.target === dialog.current) dialog.current?.close();
      }}
    >
      <div class="modal-body">
        <header class="modal-head">
          <h2 id={heading}>{props.title}</h2>
          <Button
            icon="close"
            class="quiet icon-button"
            aria-label="Close"
            onClick={() => dialog.current?.close()}
          />
        </header>
        {props.children}
      </div>
    </dialog>
  );
}
