import type { ComponentChildren } from 'preact';
import { apiKey } from '../session/session.js';
import { Icon } from './icon.js';
import { saveChunks } from './save-file.js';

interface FileLinkProps {
  path: string;
  fileName: string;
  title?: string | undefined;
  /** The file as the client fetches it. */
  chunks: () => AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** Gets why it could not be fetched. */
  fault: { value: unknown };
  children: ComponentChildren;
}

/** A file of the service to download. A link cannot send a key: with one the file is fetched first. */
export function FileLink({ path, fileName, title, chunks, fault, children }: FileLinkProps) {
  const fetchFile = (event: Event): void => {
    event.preventDefault();
    saveChunks(chunks(), fileName).catch((error: unknown) => (fault.value = error));
  };
  return (
    <a
      class="button"
      href={path}
      title={title}
      download={fileName}
      onClick={apiKey.value === null ? undefined : fetchFile}
    >
      <Icon name="download" /> {children}
    </a>
  );
}
