/** `lattice job submit --upload`: photos of this machine are sent, then a job runs over them. */
import { openAsBlob, statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { countKinds, leftOutFiles } from '../../api/left-out.js';
import type {
  JobAccepted,
  LatticeClient,
  PhotoFile,
  SendProgress,
} from '../../client/lattice-client.js';
import { planOf, wanted } from '../../client/upload-calls.js';
import { isPathError, pathFault } from '../../base/path-fault.js';
import { holdsPhotos } from '../../files/listing/image-names.js';
import { megabytes } from '../output-text.js';
import { bar, LOG_EVERY_MS } from '../progress.js';
import { UsageError, type Terminal } from '../terminal.js';
import { untilSignal } from '../until-signal.js';

/** Null after a signal; what was sent is removed then. `jobOf` gives the submission for an upload. */
export async function submitPhotos(
  client: LatticeClient,
  paths: readonly string[],
  terminal: Terminal,
  jobOf: (upload: string) => string,
): Promise<JobAccepted | null> {
  const photos = await photosIn(paths);
  if (photos.length === 0) throw new UsageError(`${paths.join(' ')} has no files.`);
  return untilSignal(terminal, async (signal) => {
    const upload = await client.uploads.create(planOf(photos), { signal });
    const { upload_id: id, left_out: others } = upload;
    const kinds = countKinds(others.map(({ kind }) => kind));
    if (others.length > 0) terminal.err(`${leftOutFiles(kinds)}.`);
    try {
      const onProgress = progressOn(terminal);
      for (const { detail } of await client.uploads.send(id, wanted(photos, upload), {
        signal,
        onProgress,
      })) {
        terminal.err(detail);
      }
      return await client.submit(jobOf(id), { signal });
    } catch (error) {
      await client.uploads.remove(id).catch(() => undefined);
      throw error;
    }
  });
}

/** A changing line on a terminal, else one every 10 seconds. */
function progressOn(terminal: Terminal): (progress: SendProgress) => void {
  let shownAt = performance.now();
  return ({ files, ofFiles, bytes, ofBytes }) => {
    const text = `${files} of ${ofFiles} files, ${(bytes / 1e6).toFixed(1)} of ${megabytes(ofBytes)} sent`;
    if (terminal.progress !== undefined) {
      terminal.progress(`${bar(ofBytes === 0 ? 1 : bytes / ofBytes)} ${text}`);
    } else if (performance.now() - shownAt >= LOG_EVERY_MS) {
      shownAt = performance.now();
      terminal.err(text);
    }
  };
}

/** All files of folders, by name: the service says which it reads. Links are followed to files, not to folders. */
async function photosIn(paths: readonly string[]): Promise<PhotoFile[]> {
  const photos = new Map<string, PhotoFile>();
  for (const path of paths) {
    try {
      // The name of the folder itself is part of the names, as when it is dropped on the page.
      const name = basename(resolve(path));
      if (statSync(path).isDirectory()) await addFolder(path, name, photos);
      else addFile(path, freeName(name, photos), photos);
    } catch (error) {
      if (!isPathError(error)) throw error;
      throw new UsageError(pathFault(error, error.path, 'read'));
    }
  }
  return [...photos.values()];
}

async function addFolder(
  folder: string,
  name: string,
  photos: Map<string, PhotoFile>,
): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (holdsPhotos(entry.name)) await addFolder(path, `${name}/${entry.name}`, photos);
    } else if ((await stat(path).catch(() => null))?.isFile() === true) {
      addFile(path, freeName(`${name}/${entry.name}`, photos), photos);
    }
  }
}

function addFile(path: string, name: string, photos: Map<string, PhotoFile>): void {
  const { size, mtimeMs } = statSync(path);
  const photo = { name, data: () => openAsBlob(path), bytes: size, modifiedAt: mtimeMs / 1_000 };
  photos.set(name, photo);
}

/** Two folders may have files of one name. */
function freeName(name: string, photos: ReadonlyMap<string, PhotoFile>): string {
  if (!photos.has(name)) return name;
  const [, stem = name, ending = ''] = /^(.*?)(\.[^./]*)?$/.exec(name) ?? [];
  for (let number = 2; ; number += 1) {
    const other = `${stem} (${number})${ending}`;
    if (!photos.has(other)) return other;
  }
}
