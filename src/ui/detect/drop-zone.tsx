import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../parts/icon.js';

interface DropZoneProps {
  onFile: (file: File) => void;
  /** A text that was dropped or pasted outside of a field: a path. */
  onText: (text: string) => void;
  children: ComponentChildren;
}

/** Takes pictures that are dropped anywhere on the page, or pasted. */
export function DropZone({ onFile, onText, children }: DropZoneProps) {
  const isOver = useSignal(false);
  const actions = useRef({ onFile, onText });
  actions.current = { onFile, onText };
  useEffect(() => {
    const take = (data: DataTransfer | null): boolean => {
      const [file] = [...(data?.files ?? [])].filter(({ type }) => type.startsWith('image/'));
      const text = data?.getData('text/plain').trim() ?? '';
      if (file !== undefined) actions.current.onFile(file);
      else if (text !== '' && !text.includes('\n')) actions.current.onText(text);
      return file !== undefined || text !== '';
    };
    const isModal = (): boolean => document.querySelector('dialog[open]') !== null;
    // An unhandled drop would leave the page.
    const onOver = (event: DragEvent): void => {
      event.preventDefault();
      isOver.value = !isModal();
    };
    const onLeave = (event: DragEvent): void => {
      if (event.relatedTarget === null) isOver.value = false;
    };
    const onDrop = (event: DragEvent): void => {
      event.preventDefault();
      isOver.value = false;
      if (!isModal()) take(event.dataTransfer);
    };
    const onPaste = (event: ClipboardEvent): void => {
      const isField =
        event.target instanceof Element && event.target.closest('input, textarea') !== null;
      const hasFile = (event.clipboardData?.files.length ?? 0) > 0;
      if (isModal() || (isField && !hasFile)) return;
      if (take(event.clipboardData)) event.preventDefault();
    };
    const stop = new AbortController();
    const { signal } = stop;
    window.addEventListener('dragover', onOver, { signal });
    window.addEventListener('dragleave', onLeave, { signal });
    window.addEventListener('drop', onDrop, { signal });
    window.addEventListener('paste', onPaste, { signal });
    return () => stop.abort();
  }, [isOver]);
  return (
    <div class="detect">
      {children}
      {isOver.value && (
        <div class="drop-here">
          <p>
            <Icon name="upload" /> Drop the picture to detect in it
          </p>
        </div>
      )}
    </div>
  );
}
