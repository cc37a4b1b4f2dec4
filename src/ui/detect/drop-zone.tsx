import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { PhotoFile } from '../../client/upload-calls.js';
import { Icon } from '../parts/icon.js';
import { droppedFiles } from './dropped-files.js';

interface DropZoneProps {
  onFile: (file: File) => void;
  /** Several files, or folders with all that is in them. */
  onPhotos: (photos: PhotoFile[]) => void;
  /** A text that was dropped or pasted outside of a field: a path. */
  onText: (text: string) => void;
  children: ComponentChildren;
}

/** Takes pictures and folders that are dropped anywhere on the page, or pasted. */
export function DropZone({ onFile, onPhotos, onText, children }: DropZoneProps) {
  const isOver = useSignal(false);
  const actions = useRef({ onFile, onPhotos, onText });
  actions.current = { onFile, onPhotos, onText };
  useEffect(() => {
    const take = (data: DataTransfer | null): boolean => {
      const files = droppedFiles(data);
      const text = data?.getData('text/plain').trim() ?? '';
      const file = files?.single ?? null;
      // A file that is not a picture goes to the photos, which say why it is left out.
      if (file?.type.startsWith('image/') === true) actions.current.onFile(file);
      else if (files !== null) void files.all.then((photos) => actions.current.onPhotos(photos));
      else if (text !== '' && !text.includes('\n')) actions.current.onText(text);
      return files !== null || text !== '';
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
            <Icon name="upload" /> Drop a picture to detect in it, or several or a folder as a job
          </p>
        </div>
      )}
    </div>
  );
}
