/**
 * The time of a picture in the EXIF data of a JPEG, PNG, WebP or TIFF file. Reads a few short parts of it, wherever
 * they lie.
 */
import { pictureType } from '../picture-format.js';
import { wallTime } from '../wall-time.js';

/** Bytes of a file from a place on; fewer where it ends. */
export type ReadBytes = (offset: number, length: number) => Promise<Buffer>;

const EXIF_IFD = 0x8769;
const DATE_TIME_ORIGINAL = 0x9003;
const DATE_TIME_DIGITIZED = 0x9004;
/** Time of the last change of the file: programs that edit it write it, and some cameras write no other. */
const DATE_TIME = 0x0132;
/** As the standard has it, and with the separators that some cameras write. */
const TIME = /^(\d{4})([:/.-])(\d\d)\2(\d\d)[ T](\d\d):(\d\d):(\d\d)$/;
const ENTRY_BYTES = 12;
const MOST_ENTRIES = 1_000;
/** Segments of a JPEG, chunks of a PNG or WebP: the metadata comes before the pixels, or behind few chunks of them. */
const MOST_PARTS = 64;
const JPEG_HEADER = 'Exif\0\0';

/** Null where there is none, or no whole one. Rejects where a read does. */
export async function exifTime(read: ReadBytes): Promise<string | null> {
  try {
    const start = await exifStart(read);
    return start === null ? null : await timeIn(read, start);
  } catch (error) {
    // A number behind the end of what is there.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Where the TIFF structure begins that holds the data. */
async function exifStart(read: ReadBytes): Promise<number | null> {
  switch (pictureType(await read(0, 32))) {
    case 'image/jpeg':
      return inJpeg(read);
    case 'image/png':
      return inChunks(read, 8, 'eXIf', (head) => ({
        type: head.toString('latin1', 4, 8),
        next: 12 + head.readUInt32BE(0),
      }));
    case 'image/webp':
      return inChunks(read, 12, 'EXIF', (head) => ({
        type: head.toString('latin1', 0, 4),
        next: 8 + 2 * Math.ceil(head.readUInt32LE(4) / 2),
      }));
    case 'image/tiff':
      return 0;
    default:
      return null;
  }
}

async function inJpeg(read: ReadBytes): Promise<number | null> {
  let at = 2;
  for (let part = 0; part < MOST_PARTS; part += 1) {
    const head = await read(at, 10);
    const marker = head.readUInt16BE(0);
    const isScan = marker === 0xffda;
    if (isScan || marker < 0xff01) return null;
    const length = head.readUInt16BE(2);
    if (marker === 0xffe1 && head.toString('latin1', 4) === JPEG_HEADER) return at + 10;
    // A byte 0xFF before a marker fills.
    at += marker === 0xffff ? 1 : 2 + length;
  }
  return null;
}

async function inChunks(
  read: ReadBytes,
  first: number,
  wanted: string,
  chunkOf: (head: Buffer) => { type: string; next: number },
): Promise<number | null> {
  let at = first;
  for (let part = 0; part < MOST_PARTS; part += 1) {
    const head = await read(at, 8);
    const { type, next } = chunkOf(head);
    if (type === wanted) {
      const start = at + 8;
      // Some writers put the header of a JPEG into the chunk.
      const isHeader = (await read(start, 6)).toString('latin1') === JPEG_HEADER;
      return isHeader ? start + JPEG_HEADER.length : start;
    }
    at += next;
  }
  return null;
}

async function timeIn(read: ReadBytes, start: number): Promise<string | null> {
  const head = await read(start, 8);
  const order = head.toString('latin1', 0, 2);
  if (order !== 'II' && order !== 'MM') return null;
  const numbers = order === 'II' ? LITTLE_ENDIAN : BIG_ENDIAN;
  if (numbers.u16(head, 2) !== 42) return null;
  const entry = async (ifd: number, tag: number): Promise<Buffer | null> => {
    const count = Math.min(numbers.u16(await read(start + ifd, 2), 0), MOST_ENTRIES);
    const entries = await read(start + ifd + 2, count * ENTRY_BYTES);
    for (let at = 0; at + ENTRY_BYTES <= entries.length; at += ENTRY_BYTES) {
      if (numbers.u16(entries, at) === tag) return entries.subarray(at, at + ENTRY_BYTES);
    }
    return null;
  };
  const time = async (ifd: number, tag: number): Promise<string | null> => {
    const found = await entry(ifd, tag);
    if (found === null) return null;
    const text = (await read(start + numbers.u32(found, 8), 19)).toString('latin1');
    const [, year, , ...others] = TIME.exec(text) ?? [];
    return year === undefined ? null : wallTime([year, ...others].map(Number));
  };
  const first = numbers.u32(head, 4);
  const exif = await entry(first, EXIF_IFD);
  if (exif !== null) {
    const ifd = numbers.u32(exif, 8);
    const taken = (await time(ifd, DATE_TIME_ORIGINAL)) ?? (await time(ifd, DATE_TIME_DIGITIZED));
    if (taken !== null) return taken;
  }
  return time(first, DATE_TIME);
}

const LITTLE_ENDIAN = {
  u16: (bytes: Buffer, at: number) => bytes.readUInt16LE(at),
  u32: (bytes: Buffer, at: number) => bytes.readUInt32LE(at),
};
const BIG_ENDIAN = {
  u16: (bytes: Buffer, at: number) => bytes.readUInt16BE(at),
  u32: (bytes: Buffer, at: number) => bytes.readUInt32BE(at),
};
