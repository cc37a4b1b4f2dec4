/**
 * A zip archive as a stream. The files are stored, not compressed: label files are too short to gain from it, JPEGs are
 * already.
 */
import { setImmediate } from 'node:timers/promises';
import { makeZip } from 'client-zip';

export interface ZipFile {
  name: string;
  content: string | Uint8Array;
}

/** Archives of the same files have the same bytes; this is the first day that zip knows. */
const MODIFIED = new Date(1980, 0, 1);
const PIECE_BYTES = 64 * 1024;
/** The count of 16 bits in the end record; from it on, readers look for one of 64 bits. */
const COUNTED_ELSEWHERE = 0xffff;

/** Pieces of about 64 KiB, each in a turn of the event loop of its own. A file is taken when its piece is read. */
export async function* zipped(files: AsyncIterable<ZipFile>): AsyncGenerator<Uint8Array, void> {
  let entries = 0;
  async function* inputs() {
    for await (const { name, content } of files) {
      entries += 1;
      yield { name, input: Buffer.from(content), lastModified: MODIFIED };
    }
  }
  const reader = makeZip(inputs()).getReader();
  let chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const chunk =
        isShortEnd(value) && entries >= COUNTED_ELSEWHERE ? longEnd(value, entries) : value;
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes < PIECE_BYTES) continue;
      yield Buffer.concat(chunks);
      [chunks, bytes] = [[], 0];
      await setImmediate();
    }
    if (bytes > 0) yield Buffer.concat(chunks);
  } finally {
    // Ends `files` where the reader went away.
    await reader.cancel().catch(() => undefined);
  }
}

/**
 * The end record, unless the library has written the one of 64 bits before it: it does for archives of 4 GiB. It gives
 * each record as a chunk of its own. A file cannot begin so: it is no zip record.
 */
function isShortEnd(chunk: Uint8Array): boolean {
  if (chunk.length !== 22) return false;
  const record = Buffer.from(chunk);
  return record.readUInt32LE(0) === 0x06054b50 && record.readUInt32LE(16) !== 0xffffffff;
}

/**
 * The library counts files in the end record only, which holds 16 bits: for more, the end record of 64 bits and its
 * locator (APPNOTE 4.3.14, 4.3.15) come before it.
 */
function longEnd(end: Uint8Array, entries: number): Buffer {
  const short = Buffer.from(end);
  const [directoryBytes, directoryAt] = [short.readUInt32LE(12), short.readUInt32LE(16)];
  const long = Buffer.alloc(76);
  long.writeUInt32LE(0x06064b50, 0);
  long.writeBigUInt64LE(44n, 4);
  long.writeUInt16LE(45, 12);
  long.writeUInt16LE(45, 14);
  long.writeBigUInt64LE(BigInt(entries), 24);
  long.writeBigUInt64LE(BigInt(entries), 32);
  long.writeBigUInt64LE(BigInt(directoryBytes), 40);
  long.writeBigUInt64LE(BigInt(directoryAt), 48);
  long.writeUInt32LE(0x07064b50, 56);
  long.writeBigUInt64LE(BigInt(directoryAt + directoryBytes), 64);
  long.writeUInt32LE(1, 72);
  return Buffer.concat([long, short]);
}
