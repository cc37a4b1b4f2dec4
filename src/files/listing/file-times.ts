/** Reads the times that picture files have: in their EXIF data, and of their last change. */
import type { FileHandle } from 'node:fs/promises';
import { exifTime, type ReadBytes } from './exif-time.js';
import type { Place } from './find-images.js';
import { readFirst } from './open-beneath.js';
import { wallTimeOf } from '../wall-time.js';

export interface TimesQuery {
  root: string;
  /** For each picture where it may be; the first place that has a file counts. */
  pictures: Place[][];
}

export interface FileTimes {
  exif: string | null;
  changed: string | null;
}

/** EXIF data of a JPEG lies in its first 64 KiB, nearly always in the first few. */
const HEAD_BYTES = 16 * 1024;

/** Null for a picture that cannot be read. */
export function fileTimes({ pictures }: TimesQuery): Promise<(FileTimes | null)[]> {
  return Promise.all(
    pictures.map((places) =>
      readFirst(places, async (file, { mtime }) => {
        const exif = await exifTime(await bytesOf(file)).catch(() => null);
        return { exif, changed: wallTimeOf(mtime) };
      }),
    ),
  );
}

async function bytesOf(file: FileHandle): Promise<ReadBytes> {
  const read: ReadBytes = async (offset, length) => {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, offset);
    return buffer.subarray(0, bytesRead);
  };
  const head = await read(0, HEAD_BYTES);
  return (offset, length) =>
    offset + length <= head.length
      ? Promise.resolve(head.subarray(offset, offset + length))
      : read(offset, length);
}
