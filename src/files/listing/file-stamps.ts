/** Which files lie at paths now, and in what state. */
import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import pLimit from 'p-limit';
import type { FileStamp } from '../../api/schemas/file-read.js';
import type { Place } from './find-images.js';
import { readFirst } from './open-beneath.js';

export interface StampsQuery {
  root: string;
  /** For each file where it may be; the first place that has a file counts. */
  files: Place[][];
  /** Whether the files are read for their digests. */
  digest: boolean;
}

export interface FoundFile {
  stamp: FileStamp;
  /** SHA-256 of the bytes in hex, where it was asked for. */
  digest: string | null;
}

/** Files that are read at a time; they take turns on the disk. */
const MOST_READ = 4;
const BYTES_PER_READ = 1 << 20;

/** Null for a file that cannot be read, or changed meanwhile. */
export async function fileStamps({ files, digest }: StampsQuery): Promise<(FoundFile | null)[]> {
  const limit = pLimit(digest ? MOST_READ : files.length || 1);
  return Promise.all(
    files.map((places) =>
      limit(() => readFirst(places, (file, status) => foundFile(file, status, digest))),
    ),
  );
}

/**
 * The file is open, because a network volume asks its server at an open only: a stat may answer what was so a minute
 * ago.
 */
async function foundFile(
  file: FileHandle,
  status: BigIntStats,
  withDigest: boolean,
): Promise<FoundFile | null> {
  const stamp = stampOf(status);
  if (!withDigest) return { stamp, digest: null };
  const digest = await digestOf(file);
  const after = stampOf(await file.stat({ bigint: true }));
  return JSON.stringify(after) === JSON.stringify(stamp) ? { stamp, digest } : null;
}

function stampOf({ size, mtimeNs, ctimeNs, dev, ino }: BigIntStats): FileStamp {
  return {
    size: Number(size),
    modifiedNs: String(mtimeNs),
    changedNs: String(ctimeNs),
    device: String(dev),
    inode: String(ino),
  };
}

async function digestOf(file: FileHandle): Promise<string> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(BYTES_PER_READ);
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, BYTES_PER_READ);
    if (bytesRead === 0) return hash.digest('hex');
    hash.update(buffer.subarray(0, bytesRead));
  }
}
