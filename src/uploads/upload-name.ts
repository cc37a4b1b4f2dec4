/** Names of uploaded files: relative paths without `.` and `..`, as the user's own folders have them. */
import { kindByName } from '../files/file-kind.js';
import { holdsPhotos } from '../files/listing/image-names.js';

/** Above it the path on disk could become longer than the system takes. */
const MOST_BYTES = 1_024;
/** Limit of a file system. */
const MOST_COMPONENT_BYTES = 255;
const MOST_COMPONENTS = 32;
const CONTROL = /\p{Cc}|\p{Surrogate}/u;

export interface NameFault {
  /** In a word, for a count of what was left out. */
  kind: string;
  detail: string;
}

/** The rule that the name breaks; null where it breaks none. */
function nameFault(name: string): string | null {
  if (name === '') return 'The name is empty.';
  if (Buffer.byteLength(name) > MOST_BYTES) return `A name has at most ${MOST_BYTES} bytes.`;
  if (CONTROL.test(name)) return 'A name has no control characters.';
  if (name.startsWith('/')) return "A name is relative: it does not begin with '/'.";
  const components = name.split('/');
  if (components.length > MOST_COMPONENTS) {
    return `A name has at most ${MOST_COMPONENTS} parts between '/'.`;
  }
  if (components.some((part) => part === '..' || part === '.' || part === '')) {
    return "A name has no parts '..' or '.' and no empty ones.";
  }
  return components.some((part) => Buffer.byteLength(part) > MOST_COMPONENT_BYTES)
    ? `Each part of a name has at most ${MOST_COMPONENT_BYTES} bytes.`
    : null;
}

/** Why a file of this name is not taken; null where it is. `isName`: the fault is that of the name, not of the file. */
export function refusedName(name: string): (NameFault & { isName: boolean }) | null {
  const fault = nameFault(name);
  if (fault !== null) return { kind: 'unusable name', detail: fault, isName: true };
  const components = name.split('/');
  const isHidden = components.slice(0, -1).some((part) => !holdsPhotos(part));
  if (isHidden || components.at(-1)?.startsWith('.') === true) {
    const detail = 'Hidden files, and folders of thumbnails and deleted files, are not looked at.';
    return { kind: 'hidden file', detail, isName: false };
  }
  const kind = kindByName(name);
  return kind === null ? null : { kind, detail: notRead(kind), isName: false };
}

/** For a file of a kind that is not read. */
export function notRead(kind: string): string {
  switch (kind) {
    case 'video':
      return 'Videos are not read: save single pictures of them.';
    case 'other file':
      return 'Files of this kind are not read.';
    case 'empty file':
      return 'The file is empty.';
    default:
      return `${kind} pictures are not read: save them as JPEG.`;
  }
}
