/** Plain files in the tar format of POSIX, which the tools of every system list and unpack. */
import type { FileHandle } from 'node:fs/promises';

export interface TarEntry {
  name: string;
  size: number;
  /** Unix seconds. */
  modified: number;
}

/** An entry of a file, and where its content begins there. */
export type StoredEntry = TarEntry & { start: number };

/** The file is no tar of plain files, or its end is missing. */
export class TarFault extends Error {}

const BLOCK = 512;
const MAGIC = 'ustar';
const PLAIN_FILE = '0';
const EXTENDED = 'x';
const EXTENDED_OF_ALL = 'g';
const FOLDER = '5';
/** A type of GNU tar: the content is the name of the next entry. */
const LONG_NAME = 'L';
const TYPES = new Set([PLAIN_FILE, EXTENDED, EXTENDED_OF_ALL, FOLDER, LONG_NAME]);
const NAME_BYTES = 100;
const LARGEST_SIZE = 0o77777777777;
/** Limit of an extended header, which holds a name and a size. */
const MOST_EXTENDED_BYTES = 64 * 1024;

// Positions in a header: [offset, length].
const NAME = [0, NAME_BYTES] as const;
const MODE = [100, 8] as const;
const USER = [108, 8] as const;
const GROUP = [116, 8] as const;
const SIZE = [124, 12] as const;
const MODIFIED = [136, 12] as const;
const CHECKSUM = [148, 8] as const;
const TYPE = [156, 1] as const;
const MAGIC_FIELD = [257, 6] as const;
const MAGIC_RANGE = [257, 263] as const;
const PREFIX = [345, 155] as const;
type Field = readonly [offset: number, length: number];

/** The blocks before the content of an entry: names and sizes that a header cannot hold get an extended one. */
export function entryHead(entry: TarEntry): Buffer {
  const long = Buffer.byteLength(entry.name) > NAME_BYTES || entry.size > LARGEST_SIZE;
  if (!long) return header(entry, PLAIN_FILE);
  const records = Buffer.from(record('path', entry.name) + record('size', String(entry.size)));
  return Buffer.concat([
    header({ name: 'extended', size: records.length, modified: entry.modified }, EXTENDED),
    records,
    padding(records.length),
    header({ ...entry, size: Math.min(entry.size, LARGEST_SIZE) }, PLAIN_FILE),
  ]);
}

/** The zeros behind the content of an entry, up to the next block. */
export const padding = (size: number): Buffer => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);

/** The blocks behind the last entry. */
export const tarEnd = (): Buffer => Buffer.alloc(2 * BLOCK);

/**
 * The plain files of a tar in their order, also of one that GNU tar or bsdtar has made: folders are left out, and names
 * have no `./` before them. Rejects with `TarFault`.
 */
export async function readEntries(file: FileHandle): Promise<StoredEntry[]> {
  const entries: StoredEntry[] = [];
  let extended: Partial<TarEntry> = {};
  for (let at = 0; ;) {
    const head = await readAt(file, at, BLOCK);
    if (head.every((byte) => byte === 0)) {
      await readAt(file, at + BLOCK, BLOCK);
      return entries;
    }
    const { type, ...plain } = parseHeader(head);
    at += BLOCK;
    const isEntry = type === PLAIN_FILE || type === FOLDER;
    const entry = isEntry ? { ...plain, ...extended } : plain;
    if (!isEntry && entry.size > MOST_EXTENDED_BYTES) {
      throw new TarFault('it has a header of unusual size');
    }
    if (type === PLAIN_FILE) {
      entries.push({ ...entry, name: entry.name.replace(/^(?:\.\/+)+/, ''), start: at });
    }
    if (isEntry) extended = {};
    else if (type === EXTENDED) {
      extended = { ...extended, ...parseRecords(await readAt(file, at, entry.size)) };
    } else if (type === LONG_NAME) {
      const name = await readAt(file, at, entry.size);
      extended = { ...extended, name: name.toString('utf8').replace(/\0.*$/s, '') };
    }
    at += entry.size + padding(entry.size).length;
  }
}

function header({ name, size, modified }: TarEntry, type: string): Buffer {
  const head = Buffer.alloc(BLOCK);
  const put = ([offset, length]: Field, text: string) => head.write(text, offset, length);
  const number = (field: Field, value: number) =>
    put(field, `${value.toString(8).padStart(field[1] - 1, '0')}\0`);
  put(NAME, name);
  number(MODE, 0o600);
  number(USER, 0);
  number(GROUP, 0);
  number(SIZE, size);
  number(MODIFIED, Math.max(0, Math.floor(modified)));
  put(TYPE, type);
  put(MAGIC_FIELD, `${MAGIC}\0`);
  put([263, 2], '00');
  number(CHECKSUM, checksum(head));
  return head;
}

function parseHeader(head: Buffer): TarEntry & { type: string } {
  const text = ([offset, length]: Field) =>
    head.toString('utf8', offset, offset + length).replace(/\0.*$/s, '');
  const number = (field: Field) => {
    const value = isBinary(head, field) ? binary(head, field) : parseInt(text(field).trim(), 8);
    if (!Number.isSafeInteger(value) || value < 0) throw new TarFault('a header is damaged');
    return value;
  };
  if (!text(MAGIC_FIELD).startsWith(MAGIC)) throw new TarFault('it is no tar file');
  if (number(CHECKSUM) !== checksum(head)) throw new TarFault('a header is damaged');
  const type = text(TYPE) === '' ? PLAIN_FILE : text(TYPE);
  if (!TYPES.has(type)) throw new TarFault(`${text(NAME)} is no plain file`);
  // GNU's own format has other things there.
  const prefix = head.toString('latin1', ...MAGIC_RANGE) === `${MAGIC}\0` ? text(PREFIX) : '';
  const name = prefix === '' ? text(NAME) : `${prefix}/${text(NAME)}`;
  return { name, size: number(SIZE), modified: number(MODIFIED), type };
}

/** GNU writes numbers that need more digits than there are in binary, marked by the first bit. */
const isBinary = (head: Buffer, [offset]: Field): boolean => head[offset] === 0x80;

function binary(head: Buffer, [offset, length]: Field): number {
  return head.subarray(offset + 1, offset + length).reduce((sum, byte) => sum * 256 + byte, 0);
}

/** The sum of the header's bytes, with blanks in place of the sum. */
function checksum(head: Buffer): number {
  const [offset, length] = CHECKSUM;
  return head.reduce((sum, byte, at) => {
    const isSum = at >= offset && at < offset + length;
    return sum + (isSum ? 0x20 : byte);
  }, 0);
}

/** `LENGTH KEY=VALUE` and a line break; the length counts itself. */
function record(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + 1;
  while (rest + String(length).length > length) length += 1;
  return `${length} ${key}=${value}\n`;
}

function parseRecords(bytes: Buffer): Partial<TarEntry> {
  const found: Partial<TarEntry> = {};
  for (let at = 0; at < bytes.length;) {
    const length = parseInt(bytes.toString('latin1', at, at + 12), 10);
    if (!(length > 0)) throw new TarFault('a header is damaged');
    const text = bytes.toString('utf8', at, at + length - 1);
    const [, key = '', value = ''] = /^\d+ ([^=]*)=(.*)$/s.exec(text) ?? [];
    if (key === 'path') found.name = value;
    if (key === 'size') found.size = Number(value);
    at += length;
  }
  if (found.size !== undefined && !Number.isSafeInteger(found.size)) {
    throw new TarFault('a header is damaged');
  }
  return found;
}

async function readAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, at);
  if (bytesRead < length) throw new TarFault('its end is missing');
  return buffer;
}
