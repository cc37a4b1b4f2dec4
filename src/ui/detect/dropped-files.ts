/** Dropped or pasted files, as photos: folders with all that is in them. */
import { photoOf, type PhotoFile } from '../../client/upload-calls.js';

export interface Dropped {
  /** The file, if exactly one was dropped and it is no folder. */
  single: File | null;
  /** All dropped files. Read it before the event is over. */
  all: Promise<PhotoFile[]>;
}

/** Null where it holds no files. */
export function droppedFiles(data: DataTransfer | null): Dropped | null {
  const items = [...(data?.items ?? [])].filter(({ kind }) => kind === 'file');
  // Read both now: they are empty once the event is over.
  const entries = items.map((item) => item.webkitGetAsEntry());
  const files = items.map((item) => item.getAsFile());
  if (items.length === 0) return null;
  const [first] = files;
  const isSingle = items.length === 1 && entries[0]?.isDirectory !== true;
  const each = entries.map((entry, at) => {
    const file = files[at];
    if (entry !== null) return photosOf(entry);
    return Promise.resolve(file ? [photoOf(file)] : []);
  });
  return {
    single: isSingle ? (first ?? null) : null,
    all: Promise.all(each).then((found) => found.flat()),
  };
}

/** A file that cannot be read is left out; the order is that of the names. */
async function photosOf(entry: FileSystemEntry): Promise<PhotoFile[]> {
  const name = entry.fullPath.replace(/^\/+/, '');
  if (isFile(entry)) {
    const file = await fileOf(entry);
    return file === null ? [] : [{ ...photoOf(file), name }];
  }
  const photos: PhotoFile[] = [];
  for (const inner of await entriesOf(entry as FileSystemDirectoryEntry)) {
    photos.push(...(await photosOf(inner)));
  }
  return photos;
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function fileOf(entry: FileSystemFileEntry): Promise<File | null> {
  return new Promise((resolve) => {
    entry.file(resolve, () => resolve(null));
  });
}

/** A reader gives at most a hundred entries at a time. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const found: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve) => {
      reader.readEntries(resolve, () => resolve([]));
    });
    if (some.length === 0) break;
    found.push(...some);
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}
